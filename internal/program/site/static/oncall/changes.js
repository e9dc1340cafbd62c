// Shows the effect of a change before it is saved. The server computes it with the rules of the change itself.
import { announce, fill, h, isolated, problem, working } from "./dom.js";
import { dialog } from "./dialog.js";
import { dated, timed, undated, v1 } from "./api.js";
import { roleBadge } from "./roles.js";
import { offerUndo } from "./undo.js";
import { length, span } from "./zone.js";

const wait = 250; // milliseconds after the last keystroke

// propose opens a dialog with a form and a preview of the edit. ask returns the body of the edit, or a text that says what is missing.
// check may throw before the edit is made, and returns the ETag that the shift must have. propose resolves to true if the edit was made,
// and then offers to undo it.
export async function propose({ title, form, ask, check, label = "Save", zone, near, extra = [] }) {
  const result = h("div", { class: "changes", "aria-live": "polite" });
  const button = h("button", { type: "submit", class: "primary", disabled: true }, label);
  let timer,
    asked = 0,
    shown = "", // the body of the preview on the screen
    failed = false; // the preview failed for a reason that may be temporary
  const preview = async () => {
    const mine = ++asked,
      body = ask();
    shown = "";
    failed = false;
    if (typeof body === "string") {
      button.disabled = true;
      fill(result, h("p", { class: "dim small" }, body));
      return;
    }
    try {
      const changes = await v1.post("/events/preview", dated(body));
      if (mine !== asked) return;
      button.disabled = false;
      shown = JSON.stringify(body);
      fill(result, showChanges(changes, zone));
    } catch (e) {
      if (mine !== asked) return;
      button.disabled = true;
      const again = (failed = e.status === 0 || e.status === 401 || e.status >= 500);
      fill(
        result,
        h("div", { class: "flash bad", role: "alert" }, problem(e), again && [" ", h("button", { type: "button", onclick: preview }, "Try again")]),
      );
      if (!e.text) throw e;
    }
  };
  let made;
  const save = async () => {
    const body = ask();
    const changes = await v1.post("/events/edit", dated(body), await check?.());
    made = () => offerUndo(body.action, changes);
  };
  const later = () => {
    clearTimeout(timer);
    // Leaving a field fires "change" again. If the form is as shown, the button stays enabled, so that a press on it is not lost.
    button.disabled = JSON.stringify(ask()) !== shown;
    if (!button.disabled) return;
    timer = setTimeout(preview, wait);
  };
  const f = h(
    "form",
    {
      class: "stack",
      oninput: later,
      onchange: later,
      onsubmit: async (e) => {
        e.preventDefault();
        if (button.disabled) return;
        try {
          d.fail(null);
          await working(button, save);
          d.close(true);
        } catch (err) {
          d.fail(err);
        }
      },
    },
    form,
    h("div", {}, h("h3", {}, "What changes"), result),
    h("div", { class: "row" }, button, h("button", { type: "button", onclick: () => d.close() }, "Cancel"), extra),
  );
  const d = dialog({ title, body: f, near });
  const back = () => failed && preview(); // the reader may have logged in in another tab
  addEventListener("focus", back);
  preview();
  const saved = await d.done;
  removeEventListener("focus", back);
  clearTimeout(timer);
  if (saved === true) {
    announce("Saved");
    made();
  }
  return saved;
}

function line(kind, sign, shift, zone, note) {
  return h(
    "li",
    { class: kind },
    h("span", { class: "sign", "aria-label": kind }, sign),
    roleBadge(shift.role),
    h("bdi", { class: "who" }, shift.full_name || shift.user),
    h("span", { class: "when" }, span(shift.start, shift.end, zone), h("span", { class: "dim" }, " · ", length(shift.end - shift.start))),
    note && h("span", { class: "dim small was" }, note),
  );
}

// showChanges lists added, removed and changed shifts, and the hours that each person gains or loses.
export function showChanges(changes, zone) {
  const { conflicts = [], ...shifts } = changes;
  const { added = [], removed = [], changed = [] } = undated(shifts);
  const rows = [
    ...removed.map((s) => [s, line("removed", "−", s, zone)]),
    ...changed.map(({ before: was, after: is }) => [is, line("changed", "~", is, zone, difference(was, is, zone))]),
    ...added.map((s) => [s, line("added", "+", s, zone)]),
  ].sort(([a], [b]) => a.start - b.start);
  if (!rows.length) return h("p", { class: "dim" }, "This changes nothing.");
  return [
    warnConflicts(conflicts, zone),
    h(
      "ul",
      { class: "change-list" },
      rows.map(([, li]) => li),
    ),
    balance(added, removed, changed),
  ];
}

// warnConflicts says which shifts are during an unavailability of their person.
export function warnConflicts(conflicts, zone) {
  if (!conflicts.length) return null;
  const some = conflicts.slice(0, 3).map(timed).map((c) => h("li", {}, h("bdi", {}, c.full_name || c.user), `, ${c.role}, ${span(c.start, c.end, zone)}`));
  return h(
    "div",
    { class: "flash conflicts", role: "status" },
    h("strong", {}, "On call and unavailable: "),
    h("ul", {}, some, conflicts.length > 3 && h("li", {}, `and ${conflicts.length - 3} more`)),
  );
}

function difference(was, is, zone) {
  const parts = [];
  if (was.user !== is.user) parts.push("was " + isolated(was.full_name || was.user));
  if (was.start !== is.start || was.end !== is.end) parts.push("was " + span(was.start, was.end, zone));
  if (was.role !== is.role) parts.push("was " + was.role);
  if ((was.note || "") !== (is.note || "")) parts.push("the note changes");
  return parts.join(", ");
}

function balance(added, removed, changed) {
  const hours = new Map();
  const count = (s, sign) => hours.set(s.full_name || s.user, (hours.get(s.full_name || s.user) || 0) + sign * (s.end - s.start));
  added.forEach((s) => count(s, 1));
  removed.forEach((s) => count(s, -1));
  changed.forEach(({ before: was, after: is }) => {
    count(was, -1);
    count(is, 1);
  });
  const people = [...hours].filter(([, seconds]) => seconds !== 0);
  return (
    people.length > 0 &&
    h("p", { class: "dim small balance" }, people.map(([name, s]) => `${isolated(name)} ${s > 0 ? "+" : "−"}${length(Math.abs(s))}`).join(" · "))
  );
}
