// Who is on call now, until when, and who is next. Here people take the pager.
import { bdi, fill, h, options, field, flash } from "./dom.js";
import { path, v0, v1 } from "./api.js";
import { propose } from "./changes.js";
import { contact } from "./details.js";
import { byOrder, isAway, roleBadge } from "./roles.js";
import { moments } from "./shiftform.js";
import { away, stamp } from "./zone.js";

// nowPanel draws the panel and returns a function that refreshes it.
export function nowPanel({ team, roles, zone, page, taken }) {
  const list = h("div", { class: "now-list" });
  const take =
    team.mayEdit &&
    team.belongs &&
    h(
      "button",
      {
        type: "button",
        class: "primary take",
        onclick: async () => {
          if (await takePager({ team, roles, zone: zone(), page, summary })) {
            flash("You are on call now.");
            taken();
          }
        },
      },
      "Take the pager now",
    );
  let summary = { current: {}, next: {} };
  const draw = () => {
    const names = [...new Set([...Object.keys(summary.current), ...Object.keys(summary.next)])].sort(byOrder(roles));
    const paged = names.filter((r) => !isAway(r));
    fill(
      list,
      paged.length
        ? paged.map((r) => role(r, summary.current[r] || [], summary.next[r] || [], { team, zone: zone(), page }))
        : h("p", { class: "dim" }, team.people.length
              ? "Nobody is on the calendar. Pages go to the members of the team, in their fixed order."
              : "Nobody is on the calendar and nobody is in the team: pages reach nobody in this team."),
      names
        .filter(isAway)
        .flatMap((r) => summary.current[r] || [])
        .map((s) => h("p", { class: "small dim" }, roleBadge(s.role), " ", bdi(s.full_name || s.user), ` until ${stamp(s.end, zone())}`)),
    );
  };
  return {
    el: h("section", { class: "card now", "aria-labelledby": "now-title" }, h("h2", { id: "now-title" }, "On call now"), list, take),
    draw,
    async load() {
      summary = await v0.get(path`/teams/${team.name}/summary`);
      draw();
    },
  };
}

function role(name, current, next, { team, zone, page }) {
  const people = current.map((s) =>
    h(
      "div",
      { class: "holder" },
      h("div", { class: "holder-name" }, bdi(s.full_name || s.user), s.user === page.user && h("span", { class: "chip" }, "you")),
      h("div", { class: "dim small" }, `until ${stamp(s.end, zone)} (${away(s.end)})`, s.team !== team.name && [" · from ", bdi(s.team)]),
      team.member && contacts(s.user_contacts),
    ),
  );
  return h(
    "div",
    { class: "now-role", data: { role: name } },
    roleBadge(name),
    people.length ? people : h("div", { class: name === "primary" ? "nobody" : "dim" }, "Nobody now"),
    next.length > 0 &&
      h(
        "div",
        { class: "dim small next" },
        "Next: ",
        next.map((s, i) => [i > 0 && ", ", bdi(s.full_name || s.user)]),
        `, ${stamp(next[0].start, zone)} (${away(next[0].start)})`,
      ),
  );
}

function contacts(all) {
  const known = Object.entries(all || {}).filter(([, to]) => to);
  return (
    known.length > 0 &&
    h(
      "div",
      { class: "contacts small" },
      known.map(([mode, to]) => h("span", {}, h("span", { class: "dim" }, mode + " "), contact(mode, to))),
    )
  );
}

const hour = 3600;

// takePager puts the reader on call from now until a chosen time.
async function takePager({ team, roles, zone, page, summary }) {
  const now = Math.floor(Date.now() / 1000);
  const paging = roles.filter((r) => !isAway(r.name));
  const role = h(
    "select",
    { "aria-label": "Role" },
    options(
      paging.map((r) => r.name),
      "primary",
    ),
  );
  const handOff = () => (summary.current[role.value] || [])[0]?.end;
  const choices = () =>
    [
      [now + hour, "for 1 hour"],
      [now + 4 * hour, "for 4 hours"],
      [now + 12 * hour, "for 12 hours"],
      handOff() && [handOff(), `until the hand-off, ${stamp(handOff(), zone)}`],
      ["other", "until another time…"],
    ].filter(Boolean);
  const until = h("select", { "aria-label": "How long" });
  const when = moments(now, now + 4 * hour, zone);
  const [, end] = when.el.children;
  const other = h("div", { hidden: true }, end);
  const refresh = () => {
    const chosen = until.value;
    until.replaceChildren(...options(choices(), chosen || choices()[0][0]));
    other.hidden = until.value !== "other";
  };
  refresh();
  const body = () => ({ role: role.value, until: until.value === "other" ? when.end() : Number(until.value) });
  return propose({
    title: "Take the pager now",
    label: "Take the pager",
    zone,
    ask: () => (body().until > now ? { action: "take", team: team.name, ...body() } : "Choose a time in the future."),
    save: () => v1.post(path`/teams/${team.name}/take`, body()),
    form: h(
      "div",
      { class: "stack", onchange: refresh },
      h("p", {}, `Pages for the role go to you, ${page.fullName}, as soon as this is saved.`),
      field("Role", role),
      field("How long", until),
      other,
    ),
  });
}
