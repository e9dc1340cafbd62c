// The list of teams, with a search for teams, services and people. Pinned teams are first and show who is on call.
import { bdi, fill, flash, h, field, initial, options, page as read, ready } from "./dom.js";
import { path, query, v0 } from "./api.js";
import { form } from "./dialog.js";
import { pin, pinned } from "./pins.js";
import { recent } from "./recent.js";
import { isAway, roleBadge } from "./roles.js";
import { span, stamp, zones } from "./zone.js";
import { zoneSwitch } from "./zoneswitch.js";

const page = read();
const pause = 200; // milliseconds after the last keystroke
let names, pins, results, all, zone;

ready(async () => {
  [names, pins] = await Promise.all([v0.get("/teams"), pinned(page.user)]);
  const search = h("input", {
    type: "search",
    placeholder: "Search teams, services and people",
    "aria-label": "Search teams, services and people",
    value: new URLSearchParams(location.search).get("q") || "",
  });
  const look = () => find(search.value.trim());
  zone = zoneSwitch(page, () => {
    draw();
    look();
  });
  results = h("div", { class: "page", "aria-live": "polite" });
  all = h("div", { class: "page" });
  fill(
    page.el,
    h(
      "div",
      { class: "row spread" },
      h("h1", {}, "On call"),
      !page.readOnly && h("button", { type: "button", onclick: create }, "New team…"),
    ),
    h("div", { class: "search" }, search),
    zone.el,
    results,
    all,
  );
  draw();
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, pause);
  });
  if (search.value) look();
});

const link = (team) => h("a", { href: path`/teams/${team}` }, bdi(team));

function draw() {
  const letters = new Map();
  for (const n of [...names].sort((a, b) => a.localeCompare(b))) {
    const key = initial(n);
    letters.set(key, [...(letters.get(key) || []), n]);
  }
  const live = pins.filter((n) => names.includes(n));
  const seen = recent().filter((n) => names.includes(n) && !live.includes(n));
  fill(
    all,
    live.length > 0 &&
      h("section", { "aria-label": "Pinned teams" }, h("h2", {}, "Pinned"), h("div", { class: "cards" }, live.map(pinnedCard))),
    seen.length > 0 &&
      h("section", { class: "card", "aria-label": "Recently viewed teams" }, h("h2", {}, "Recently viewed"), h("div", { class: "row" }, seen.map(link))),
    h(
      "section",
      { "aria-label": "All teams" },
      h("h2", {}, "All teams ", h("span", { class: "dim small" }, String(names.length))),
      names.length
        ? h(
            "div",
            { class: "letters" },
            [...letters].map(([key, list]) =>
              h(
                "div",
                { class: "card letter" },
                h("h3", { "aria-hidden": "true" }, key),
                h(
                  "ul",
                  { class: "plain" },
                  list.map((n) => h("li", { class: "row nowrap spread" }, link(n), star(n))),
                ),
              ),
            ),
          )
        : h("div", { class: "card empty" }, "There is no team yet. Add the first one."),
    ),
  );
}

function star(name) {
  const on = pins.includes(name);
  return h(
    "button",
    {
      type: "button",
      class: "link star",
      "aria-pressed": String(on),
      "aria-label": (on ? "Unpin " : "Pin ") + name,
      onclick: async () => {
        try {
          await pin(page.user, name, !on);
          pins = on ? pins.filter((p) => p !== name) : [...pins, name];
          draw();
        } catch (e) {
          flash(e.text || String(e), true);
        }
      },
    },
    on ? "★" : "☆",
  );
}

function pinnedCard(name) {
  const now = h("div", { class: "small" }, h("span", { class: "dim" }, "…"));
  v0.get(path`/teams/${name}/summary`).then(
    (s) => {
      const primary = s.current.primary || [];
      fill(
        now,
        roleBadge("primary"),
        " ",
        primary.length
          ? [
              h("strong", { dir: "auto" }, primary.map((p) => p.full_name || p.user).join(", ")),
              h("div", { class: "dim" }, "until " + stamp(primary[0].end, zone.zone())),
            ]
          : h("span", { class: "nobody" }, "nobody"),
      );
    },
    (e) => fill(now, h("span", { class: "nobody" }, e.text || "not known")),
  );
  return h("div", { class: "card" }, h("div", { class: "row nowrap spread" }, h("strong", {}, link(name)), star(name)), now);
}

let asked = 0;
async function find(keyword) {
  const mine = ++asked;
  all.hidden = keyword !== "";
  history.replaceState(null, "", keyword ? "/teams" + query({ q: keyword }) : "/teams");
  if (!keyword) return fill(results);
  try {
    const found = await v0.get("/search" + query({ keyword }));
    if (mine === asked) fill(results, show(found));
  } catch (e) {
    if (mine === asked) fill(results, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
  }
}

function show({ teams = [], services = {}, users = [] }) {
  const some = Object.entries(services);
  if (!teams.length && !some.length && !users.length) return h("div", { class: "card empty" }, "Nothing found. Search for a shorter part of the name.");
  const part = (title, rows) => rows.length > 0 && h("section", { class: "card" }, h("h2", {}, title), h("ul", { class: "plain" }, rows));
  return [
    part(
      "Teams",
      teams.map((t) => h("li", {}, link(t))),
    ),
    part(
      "Services",
      some.map(([s, owners]) =>
        h(
          "li",
          {},
          bdi(s),
          h("span", { class: "dim" }, " of "),
          [].concat(owners).map((t, i) => [i > 0 && ", ", link(t)]),
        ),
      ),
    ),
    part("People", users.map(person)),
  ];
}

function person(u) {
  const teams = h("span", { class: "dim small" }),
    shifts = h("ul", { class: "plain small" });
  const at = Math.floor(Date.now() / 1000);
  v0.get("/events" + query({ user: u.name, end__gt: at, start__lt: at + shiftsAhead })).then(
    (list) => fill(shifts, soon(list, at)),
    () => fill(shifts),
  );
  v0.get(path`/users/${u.name}/teams`).then(
    (list) => fill(teams, list.length ? list.map((t, i) => [i > 0 && ", ", link(t)]) : "in no team"),
    () => fill(teams),
  );
  return h("li", {}, h("strong", {}, bdi(u.full_name || u.name)), " ", h("span", { class: "dim" }, bdi(u.name)), " ", teams, shifts);
}

const shiftsAhead = 30 * 86400; // seconds
const shiftsShown = 3;

// soon returns the first shifts of a person.
function soon(list, at) {
  const on = list.filter((s) => !isAway(s.role)).sort((a, b) => a.start - b.start);
  if (!on.length) return h("li", { class: "dim" }, "no shifts in the next 30 days");
  return [
    on.slice(0, shiftsShown).map((s) => h("li", {}, roleBadge(s.role), " ", link(s.team), " ", s.start <= at && h("strong", {}, "now, "), span(s.start, s.end, zone.zone()))),
    on.length > shiftsShown && h("li", { class: "dim" }, `and ${on.length - shiftsShown} more`),
  ];
}

async function create() {
  let name;
  const saved = await form({
    title: "New team",
    label: "Create",
    fields: [
      field("Name", h("input", { name: "name", required: true, maxlength: 255 })),
      field("Time zone", h("select", { name: "zone" }, options(zones(zone.zone()), zone.zone())), "Hand-offs happen at the wall-clock times of this zone."),
      field("E-mail", h("input", { name: "email", type: "email" })),
      field("Slack channel", h("input", { name: "slack", placeholder: "#team" })),
      field("Description", h("textarea", { name: "description", rows: 2 })),
    ],
    save: (f) => {
      name = f.name.value.trim();
      return v0.post("/teams", {
        name,
        scheduling_timezone: f.zone.value,
        email: f.email.value,
        slack_channel: f.slack.value,
        description: f.description.value,
      });
    },
  });
  if (saved) location.assign(path`/teams/${name}/rosters`);
}
