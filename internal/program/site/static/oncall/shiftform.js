// The forms that add, override and edit shifts. They preview the change before it is saved.
import { bdi, field, h, isolated, options } from "./dom.js";
import { Failure, path, v0 } from "./api.js";
import { propose } from "./changes.js";
import { name } from "./rights.js";
import { instant, span, wall } from "./zone.js";

const half = 43200; // seconds of a half-day shift

// moments returns two fields, start and end, in the shown time zone.
export function moments(start, end, zone) {
  const make = (at, label) =>
    h("input", { type: "datetime-local", required: true, value: at ? wall(at, zone).slice(0, 16) : "", "aria-label": label });
  const from = make(start, "Starts"),
    to = make(end, "Ends");
  const read = (input) => (input.value ? instant(input.value, zone) : 0);
  return {
    el: h("div", { class: "pair" }, field("Starts", from), field("Ends", to, "Times in " + zone.replaceAll("_", " "))),
    start: () => read(from),
    end: () => read(to),
    problem: () =>
      !from.value || !to.value ? "Choose when it starts and ends." : read(from) >= read(to) ? "It must start before it ends." : "",
  };
}

function personSelect(team, chosen, label = "Person") {
  return h(
    "select",
    { "aria-label": label, required: true },
    h("option", { value: "" }, "Choose a person"),
    options(
      team.people.map((u) => [u.name, name(u)]),
      chosen,
    ),
  );
}

const roleSelect = (roles, chosen) =>
  h(
    "select",
    { "aria-label": "Role", required: true },
    options(
      roles.map((r) => r.name),
      chosen,
    ),
  );

// addOrReplace opens the form for a time. shifts are those on the calendar; the shifts in this time can be given to another person.
export function addOrReplace({ team, roles, shifts, zone, start, end, user, replace, role }) {
  const when = moments(start, end, zone);
  const ways = [
    ["add", "Add a shift"],
    ["replace", "Replace somebody (override)"],
  ];
  let way = replace ? "replace" : "add";
  const person = personSelect(team, user || "");
  const roleField = roleSelect(roles, role || roles[0]?.name);
  const note = h("input", { maxlength: 1000, "aria-label": "Note" });
  const daily = h("input", { type: "checkbox" });
  const whose = h("select", { "aria-label": "Whose shift" });
  const adding = h(
    "div",
    { class: "stack" },
    field("Role", roleField),
    field("Note", note),
    h("label", { class: "check" }, daily, h("span", {}, "12 hours a day: linked shifts, one for each day")),
  );
  const replacing = h("div", { class: "stack" }, field("Whose shift", whose));
  const refresh = () => {
    adding.hidden = way !== "add";
    replacing.hidden = way !== "replace";
    if (way !== "replace") return;
    const groups = covered(shifts, when.start(), when.end(), team.name),
      before = whose.value;
    whose.replaceChildren(
      ...options(
        [...groups.entries()].map(([key, list]) => [key, `${list[0].full_name || list[0].user}, ${list[0].role}`]),
        groups.has(before) ? before : preferred(groups, role),
      ),
    );
  };
  const chooser = h(
    "fieldset",
    { class: "segmented" },
    h("legend", { class: "unseen" }, "What"),
    ways.map(([value, text]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "way",
          value,
          checked: value === way,
          onchange: () => {
            way = value;
            refresh();
          },
        }),
        h("span", {}, text),
      ),
    ),
  );
  const form = h("div", { class: "stack", oninput: refresh }, chooser, when.el, replacing, field("Person", person), adding);
  refresh();
  const request = () => {
    const problem = when.problem() || (!person.value ? "Choose a person." : "");
    if (problem) return problem;
    if (way === "replace") {
      const list = covered(shifts, when.start(), when.end(), team.name).get(whose.value);
      if (!list) return "Nobody has a shift in this time that can be replaced. Choose another time, or add a shift.";
      return { action: "override", start: when.start(), end: when.end(), event_ids: list.map((s) => s.id), user: person.value };
    }
    const one = {
      team: team.name,
      role: roleField.value,
      user: person.value,
      start: when.start(),
      end: when.end(),
      ...(note.value && { note: note.value }),
    };
    return daily.checked ? { action: "link", events: halves(one, zone) } : { action: "create", ...one };
  };
  return propose({ title: replace ? "Override" : "Add or override", form, ask: request, zone });
}

// covered groups the shifts of a time by person and role.
function covered(shifts, start, end, team) {
  const groups = new Map();
  for (const s of [...shifts].sort((a, b) => a.start - b.start)) {
    if (!s.id || s.team !== team || s.end <= start || s.start >= end) continue;
    const key = s.role + "/" + s.user;
    groups.set(key, [...(groups.get(key) || []), s]);
  }
  return groups;
}

const preferred = (groups, role) => [...groups.keys()].find((k) => k.startsWith((role || "primary") + "/")) || [...groups.keys()][0];

// halves splits a time into one shift of twelve hours for each day, by wall-clock time.
function halves(one, zone) {
  const list = [],
    clock = wall(one.start, zone).slice(10);
  for (let day = wall(one.start, zone).slice(0, 10); ; day = nextDay(day)) {
    const start = instant(day + clock, zone);
    if (start >= one.end || list.length > 60) return list;
    list.push({ ...one, start, end: Math.min(start + half, one.end) });
  }
}

const nextDay = (day) => new Date(Date.parse(day + "T00:00:00Z") + 86400000).toISOString().slice(0, 10);

// edit opens the form of a shift. Linked shifts can be edited together; their times stay.
export function edit({ team, roles, zone, shift, change = {} }) {
  const when = moments(change.start ?? shift.start, change.end ?? shift.end, zone);
  const person = personSelect(team, change.user ?? shift.user);
  const roleField = roleSelect(roles, shift.role);
  const note = h("input", { value: shift.note || "", maxlength: 1000, "aria-label": "Note" });
  const all = h("input", {
    type: "checkbox",
    onchange: () => {
      when.el.hidden = all.checked;
    },
  });
  const form = h(
    "div",
    { class: "stack" },
    shift.link_id && h("label", { class: "check" }, all, h("span", {}, "All linked shifts (their times stay)")),
    when.el,
    field("Person", person),
    field("Role", roleField),
    field("Note", note),
  );
  // Only changed fields are sent, because somebody else may have changed the others since the calendar was read.
  const whole = () => ({
    ...(person.value !== shift.user && { user: person.value }),
    ...(roleField.value !== shift.role && { role: roleField.value }),
    ...(note.value !== (shift.note || "") && { note: note.value }),
  });
  const times = () => ({
    ...(when.start() !== shift.start && { start: when.start() }),
    ...(when.end() !== shift.end && { end: when.end() }),
  });
  const request = () => {
    const asked = all.checked ? whole() : { ...whole(), ...times() };
    if (!Object.keys(asked).length) return "Nothing has changed yet.";
    if (all.checked) return { action: "edit_link", link_id: shift.link_id, ...asked };
    return when.problem() || { action: "edit", id: shift.id, ...asked };
  };
  return propose({ title: "Edit shift", form, ask: request, check: () => unchanged(shift, zone, all.checked), zone });
}

// unchanged throws if another person has changed the shift since the reader saw it. It returns the ETag of the shift, so that the server
// refuses the edit if the shift changes after this read. An edit of all linked shifts has no ETag.
export async function unchanged(shift, zone, linked) {
  const { value: is, tag } = await v0.see(path`/events/${shift.id}`);
  if (["user", "role", "start", "end", "note"].every((k) => (is[k] ?? "") === (shift[k] ?? ""))) return linked ? undefined : tag;
  throw new Failure(409, `Somebody changed this shift meanwhile: ${is.full_name || is.user}, ${is.role}, ${span(is.start, is.end, zone)}. Close this and open the shift again.`);
}

// moved asks before a dragged shift is moved, or swapped with the shift that it was dropped on.
export function moved({ team, zone, shift, to, onto, roles }) {
  const person = team.people.find((p) => p.name === to.user),
    longer = to.end - to.start !== shift.end - shift.start;
  let swapping = Boolean(onto);
  const now = Math.floor(Date.now() / 1000);
  const transferred = shift.start < now && to.start === shift.start && to.end === shift.end; // the past stays unchanged
  const change = transferred
    ? { action: "override", start: now, end: shift.end, event_ids: [shift.id], user: to.user }
    : { action: "edit", id: shift.id, start: to.start, end: to.end, user: to.user, role: shift.role };
  const swap = onto && {
    action: "swap_from_now",
    events: [
      { id: shift.id, linked: false },
      { id: onto.id, linked: false },
    ],
  };
  const request = () => (swapping ? swap : change);
  const choice =
    onto &&
    h(
      "fieldset",
      { class: "segmented" },
      h("legend", { class: "unseen" }, "What"),
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "what",
          checked: true,
          onchange: () => {
            swapping = true;
          },
        }),
        h("span", {}, `Swap with ${isolated(onto.full_name || onto.user)}`),
      ),
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "what",
          onchange: () => {
            swapping = false;
          },
        }),
        h("span", {}, "Move only"),
      ),
    );
  const form = h(
    "div",
    { class: "stack" },
    choice,
    h("p", {}, bdi(shift.full_name || shift.user), `, ${shift.role}: ${span(shift.start, shift.end, zone)}`),
    !onto && to.user !== shift.user && h("p", {}, "To: ", bdi(person ? name(person) : to.user)),
    shift.link_id && h("p", { class: "dim small" }, "This shift leaves its group of linked shifts."),
  );
  return propose({
    title: onto ? "Swap or move" : to.user !== shift.user ? "Give to somebody else" : longer ? "Change the times" : "Move shift",
    form,
    ask: request,
    check: () => unchanged(shift, zone, swapping),
    zone,
    extra: [
      h(
        "button",
        {
          type: "button",
          onclick: (e) => {
            e.target.closest("dialog").close();
            edit({ team, roles, zone, shift, change: to });
          },
        },
        "Edit instead…",
      ),
    ],
  });
}
