// Who is on call now, until when, and who is next. Here people take the pager.
import { bdi, fill, h, lazy } from "./dom.js";
import { path, v0 } from "./api.js";
import { avatar } from "./person.js";
import { byOrder, contact, isAway, roleBadge } from "./roles.js";
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
        class: "take",
        onclick: async () => {
          const dialog = await lazy(() => import("./take.js"));
          if (await dialog?.takePager({ team, roles, zone: zone(), page, summary })) taken();
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
      h("div", { class: "holder-name" }, avatar(s.user), bdi(s.full_name || s.user), s.user === page.user && h("span", { class: "chip" }, "you")),
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
