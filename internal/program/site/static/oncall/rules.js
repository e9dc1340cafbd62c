// How pages reach the reader: for each priority a mode at once, and follow-ups while nobody acknowledges.
import { card, field, fill, flash, h, options, removeButton, working } from "./dom.js";
import { path, v1 } from "./api.js";

const modes = ["push", "slack", "sms", "call", "email", "webhook"];
const units = [
  [1, "seconds"],
  [60, "minutes"],
  [3600, "hours"],
];
const maxFollowUps = 8;

export function rulesCard(page) {
  const at = path`/users/${page.user}/notification-rules`;
  const list = h("div", { class: "stack" }, h("p", { class: "dim" }, "…"));
  const save = h("button", { class: "primary" }, "Save");
  let rules = [];

  const draw = () => fill(list, rules.map(ruleFields), save);

  function ruleFields(rule) {
    return h(
      "fieldset",
      { class: "rule" },
      h("legend", {}, rule.priority),
      h(
        "div",
        { class: "row" },
        "At once by ",
        h(
          "select",
          { "aria-label": `${rule.priority}: mode at once`, onchange: (e) => (rule.mode = e.target.value || null) },
          options([["", "default"], ...modes, ["drop", "drop (discard)"]], rule.mode || ""),
        ),
      ),
      rule.follow_ups.map((f, i) => followUp(rule, f, i)),
      rule.follow_ups.length < maxFollowUps &&
        h("button", { type: "button", onclick: () => add(rule) }, "Add a later notification"),
    );
  }

  function followUp(rule, f, i) {
    const unit = [...units].reverse().find(([s]) => f.delay_seconds % s === 0)[0];
    const name = `${rule.priority}, later notification ${i + 1}`;
    const count = h("input", { type: "number", min: 1, required: true, value: f.delay_seconds / unit, class: "narrow", "aria-label": name + ": delay" });
    const per = h("select", { "aria-label": name + ": unit" }, options(units, unit));
    const change = () => (f.delay_seconds = Number(count.value) * Number(per.value));
    count.addEventListener("input", change);
    per.addEventListener("change", change);
    return h(
      "div",
      { class: "row" },
      "Then by ",
      h("select", { "aria-label": name + ": mode", onchange: (e) => (f.mode = e.target.value) }, options(modes, f.mode)),
      " after ",
      count,
      per,
      removeButton("Remove: " + name, () => {
        rule.follow_ups.splice(i, 1);
        draw();
      }),
    );
  }

  function add(rule) {
    const last = rule.follow_ups.at(-1)?.delay_seconds || 0;
    rule.follow_ups.push({ mode: "sms", delay_seconds: last + 120 });
    draw();
  }

  async function load() {
    ({ rules } = await v1.get(at));
    draw();
  }

  async function store() {
    try {
      ({ rules } = await v1.put(at, { rules }));
      draw();
      flash("How pages reach you was saved.");
    } catch (e) {
      flash(e.text || String(e), true);
    }
  }

  load().catch((e) => fill(list, h("p", { class: "dim" }, e.text || String(e))));
  return card(
    "How pages reach me",
    h("p", { class: "dim small" }, "Later notifications are sent only while nobody has acknowledged. A mode that you chose for one application replaces all of this there."),
    h("form", { onsubmit: (e) => (e.preventDefault(), working(save, store)) }, list),
  );
}

// quietCard sets limits for pages below urgent.
export function quietCard(page) {
  const at = path`/users/${page.user}/quiet-limits`;
  const perDay = h("input", { type: "number", min: 0, max: 1000, name: "per-day", placeholder: "as the installation" });
  const days = ["medium", "low"].map((name) => [name, h("input", { type: "checkbox", name: "working-days" })]);
  const save = h("button", { class: "primary" }, "Save");
  const show = (limits) => {
    perDay.value = limits.calls_and_texts_per_day ?? "";
    for (const [name, box] of days) box.checked = limits.working_days_only.includes(name);
  };
  async function store() {
    try {
      show(
        await v1.put(at, {
          calls_and_texts_per_day: perDay.value === "" ? null : Number(perDay.value),
          working_days_only: days.filter(([, box]) => box.checked).map(([name]) => name),
        }),
      );
      flash("Your quiet time was saved.");
    } catch (e) {
      flash(e.text || String(e), true);
    }
  }
  v1.get(at).then(show, (e) => flash(e.text || String(e), true));
  return card(
    "Quiet time",
    h("p", { class: "dim small" }, "Urgent pages are never held. Others wait for 8:00 on the next day or working day, and then come together."),
    h(
      "form",
      { class: "stack", onsubmit: (e) => (e.preventDefault(), working(save, store)) },
      field("Calls and texts on one day", perDay, "Empty: the limit of the installation, if it has one."),
      h("fieldset", { class: "row" }, h("legend", {}, "On working days only"), days.map(([name, box]) => h("label", { class: "check" }, box, h("span", {}, name)))),
      save,
    ),
  );
}
