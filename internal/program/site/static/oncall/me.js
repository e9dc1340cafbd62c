// The page of the reader: shifts, swap requests, reminders, time zone, calendar feed.
import { bdi, card, field, fill, flash, h, lazy, options, page as read, ready, shortList, working } from "./dom.js";
import { iso, path, query, v0, v1 } from "./api.js";
import { concerns, openRequests, requestList } from "./requests.js";
import { roleBadge, unavailable } from "./roles.js";
import { subscriptionCard } from "./subscribe.js";
import { unavailabilityCard } from "./unavailability.js";
import { away, browserZone, length, span, zones } from "./zone.js";
import { zoneSwitch } from "./zoneswitch.js";

const page = read();
let teams, upcoming, current, zone, requests, conflicts, shifts, absences;
let unknown = []; // teams whose conflicts could not be read

ready(async () => {
  zone = zoneSwitch(page, draw);
  teams = await v0.get(path`/users/${page.user}/teams`);
  await load();
});

async function load() {
  const now = Math.floor(Date.now() / 1000);
  [upcoming, current, requests] = await Promise.all([
    v0.get(path`/users/${page.user}/upcoming` + "?limit=30"),
    v0.get(`/events?user=${encodeURIComponent(page.user)}&start__le=${now}&end__gt=${now}`),
    openRequests(teams),
  ]);
  conflicts = await myConflicts(now);
  draw();
}

// myConflicts returns the ids of the reader's shifts that overlap an unavailability, and sets unknown.
async function myConflicts(now) {
  const end = Math.max(now + 86400, ...upcoming.map((s) => s.end), ...current.map((s) => s.end));
  const found = await Promise.allSettled(teams.map((t) => v1.list(path`/teams/${t}/conflicts` + query({ start: iso(now), end: iso(end) }))));
  unknown = teams.filter((_, i) => found[i].status === "rejected");
  return new Set(found.flatMap((f) => f.value || []).map((c) => c.event_id));
}

function draw() {
  const z = zone.zone(),
    open = requests.filter((r) => concerns(r, page.user));
  fill(
    page.el,
    h(
      "div",
      { class: "row spread" },
      h("h1", { dir: "auto" }, page.fullName || page.user),
      h("div", { class: "row" }, h("button", { type: "button", onclick: () => lazy(() => import("./feeds.js")).then((m) => m?.openFeed("user", page.user)) }, "Calendar feed…"), zone.el),
    ),
    h(
      "div",
      { class: "calendar-page" },
      (shifts = h("div", { class: "page" }, shiftCards())),
      h(
        "div",
        { class: "page" },
        card("Swap requests", requestList(open, { me: page.user, readOnly: page.readOnly, zone: z, done: load })),
        card("How pages reach me", [
          h("p", {}, h("a", { href: path`/people/${page.user}` }, "Contacts, rules and quiet limits")),
          h("p", {}, h("a", { href: path`/people/${page.user}/reminders` }, "Reminders and notices")),
        ]),
        zoneCard(),
        teams.length > 0 && (absences = h("div", {}, unavailabilityCard(page, teams[0], z, flagged))),
        calendarsCard(),
        card(
          "My teams",
          teams.length
            ? shortList(teams.map((t) => h("li", {}, h("a", { href: path`/teams/${t}` }, bdi(t)))))
            : h("p", { class: "dim" }, "You are in no team."),
        ),
      ),
    ),
  );
}

// flagged marks the shifts again. The cards with forms stay as they are.
async function flagged() {
  conflicts = await myConflicts(Math.floor(Date.now() / 1000));
  fill(shifts, shiftCards());
}

// calendarsCard lists the calendars that say when the reader cannot be on call.
function calendarsCard() {
  return subscriptionCard({
    title: "Calendars of my absences",
    text: "A calendar with your absences, such as holidays. Iris reads it every hour. Schedules do not choose you during its events. Your teams see when you are away, but not the titles of events.",
    at: path`/users/${page.user}/calendar-subscriptions`,
    mayChange: true,
    changed: () => {
      if (teams.length) fill(absences, unavailabilityCard(page, teams[0], zone.zone(), flagged));
      flagged();
    },
  });
}

function shiftCards() {
  const z = zone.zone();
  return [
    unknown.length > 0 &&
      h(
        "div",
        { class: "flash bad", role: "status" },
        "Iris could not check whether you are unavailable during your shifts. Load the page again. Teams: ",
        unknown.map((t, i) => [i > 0 && ", ", bdi(t)]),
      ),
    card(
      "Now",
      current.length
        ? h(
            "ul",
            { class: "plain shifts" },
            current.map((s) => row(s, z, "for another " + away(s.end).replace("in ", ""))),
          )
        : h("p", { class: "dim" }, "You are not on call."),
    ),
    card(
      "Coming up",
      upcoming.length
        ? h(
            "ul",
            { class: "plain shifts" },
            upcoming.map((s) => row(s, z, away(s.start))),
          )
        : h("p", { class: "dim" }, "You have no future shifts."),
    ),
  ];
}

function row(s, z, when) {
  return h(
    "li",
    {},
    h("div", {}, roleBadge(s.role), " ", h("a", { href: path`/teams/${s.team}` }, bdi(s.team)), h("span", { class: "dim" }, " · ", when), conflicts.has(s.id) && [" ", h("span", { class: "chip bad" }, unavailable)]),
    h(
      "div",
      {},
      span(s.start, s.end, z),
      h("span", { class: "dim" }, " · ", length(s.end - s.start), s.num_events > 1 && `, first of ${s.num_events} linked shifts`),
    ),
    s.note && h("div", { class: "dim small", dir: "auto" }, s.note),
  );
}

// zoneCard sets the time zone for reminders and pages. Read-only people may change it too.
function zoneCard() {
  const select = h("select", { "aria-label": "My time zone" }, options(zones(page.zone, browserZone), page.zone || "UTC"));
  const button = h(
    "button",
    {
      type: "button",
      onclick: () =>
        working(button, async () => {
          try {
            await v0.put(path`/users/${page.user}`, { time_zone: select.value });
            location.reload();
          } catch (e) {
            flash(e.text || String(e), true);
          }
        }),
    },
    "Save",
  );
  return card("My time zone", h("div", { class: "row nowrap" }, field("Times in", select), button));
}
