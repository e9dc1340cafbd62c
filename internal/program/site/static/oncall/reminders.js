// Reminders of shifts, and notices of changes to the calendar of a team.
import { card, field, fill, flash, h, options, removeButton, shortList } from "./dom.js";
import { path, v0 } from "./api.js";
import { form } from "./dialog.js";
import { length } from "./zone.js";

const units = [
  [60, "minutes"],
  [3600, "hours"],
  [86400, "days"],
  [604800, "weeks"],
];
const named = {
  oncall_reminder: "before my shift starts",
  offcall_reminder: "before my shift ends",
  event_created: "a shift is created",
  event_edited: "a shift is changed",
  event_deleted: "a shift is deleted",
  event_swapped: "shifts are swapped",
  event_substituted: "somebody is replaced",
};

// reminderCard lists the reader's reminders and notices, and adds and removes them.
export function reminderCard(page, teams) {
  const list = h("div", {}, h("p", { class: "dim" }, "…"));
  const at = path`/users/${page.user}/notifications`;
  const describe = (s) =>
    s.time_before
      ? `${s.mode}, ${length(s.time_before)} ${named[s.type] || s.type}`
      : `${s.mode}, when ${named[s.type] || s.type}${s.only_if_involved ? " and I am involved" : ""}`;
  async function load() {
    const all = await v0.get(at);
    fill(
      list,
      all.length
        ? shortList(
            all.map((s) =>
              h(
                "li",
                { class: "row nowrap spread" },
                h("span", {}, describe(s), h("div", { class: "dim small" }, `${s.team}: ${s.roles.join(", ")}`)),
                removeButton("Remove: " + describe(s), () => v0.remove(path`/notifications/${s.id}`).then(load, (e) => flash(e.text || String(e), true))),
              ),
            ),
          )
        : h("p", { class: "dim" }, "You get no reminders of your shifts."),
    );
  }
  load().catch((e) => fill(list, h("div", { class: "flash bad", role: "alert" }, e.text || String(e))));
  return card(
    "Reminders and notices",
    list,
    h(
      "button",
      {
        type: "button",
        onclick: () =>
          add(at, teams).then(
            (saved) => saved && load(),
            (e) => flash(e.text || String(e), true),
          ),
      },
      "Add…",
    ),
  );
}

async function add(at, teams) {
  const [types, modes, roles] = await Promise.all([v0.get("/notification_types"), v0.get("/modes"), v0.get("/roles")]);
  const reminds = (name) => Boolean(types.find((t) => t.name === name)?.is_reminder);
  const type = h("select", { name: "type" }, options(types.map((t) => [t.name, named[t.name] || t.name])));
  const before = h(
    "div",
    { class: "row" },
    h("input", { name: "count", type: "number", min: 1, value: 1, class: "narrow", "aria-label": "How long before" }),
    h("select", { name: "unit", "aria-label": "Unit" }, options(units, 86400)),
    "before",
  );
  const involved = h(
    "label",
    { class: "check" },
    h("input", { type: "checkbox", name: "involved", checked: true }),
    h("span", {}, "Only if I am involved"),
  );
  const refresh = () => {
    before.hidden = !reminds(type.value);
    involved.hidden = reminds(type.value);
  };
  type.addEventListener("change", refresh);
  refresh();
  return form({
    title: "Add a reminder or notice",
    label: "Add",
    fields: [
      field("When", type),
      before,
      involved,
      field("By", h("select", { name: "mode" }, options(modes.filter((m) => m !== "teams_messenger"), "email"))),
      field("Team", h("select", { name: "team" }, options(teams))),
      h(
        "fieldset",
        { class: "row" },
        h("legend", {}, "Roles"),
        roles.map((r) =>
          h(
            "label",
            { class: "check" },
            h("input", { type: "checkbox", name: "role", value: r.name, checked: ["primary", "secondary"].includes(r.name) }),
            h("span", {}, r.name),
          ),
        ),
      ),
    ],
    save: (f, el) =>
      v0.post(at, {
        team: f.team.value,
        mode: f.mode.value,
        type: type.value,
        roles: [...el.querySelectorAll("input[name=role]:checked")].map((c) => c.value),
        ...(reminds(type.value) ? { time_before: Number(f.count.value) * Number(f.unit.value) } : { only_if_involved: f.involved.checked }),
      }),
  });
}
