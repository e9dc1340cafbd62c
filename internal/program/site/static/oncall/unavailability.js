// Unavailability of the reader, once or repeated. Schedules skip an unavailable person.
import { card, field, fill, flash, h, options, removeButton } from "./dom.js";
import { iso, path, timed, v1 } from "./api.js";
import { warnConflicts } from "./changes.js";
import { form } from "./dialog.js";
import { moments } from "./shiftform.js";
import { span, wall } from "./zone.js";

const codes = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"],
  days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const shown = 5; // times of subscribed calendars

// repeats returns the rules (RFC 5545) that the form offers, for a start on a weekday.
const repeats = (day) => [
  ["", "once"],
  ["FREQ=DAILY", "every day"],
  ["FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "Monday to Friday"],
  [`FREQ=WEEKLY;BYDAY=${codes[day]}`, "every " + days[day]],
  [`FREQ=WEEKLY;INTERVAL=2;BYDAY=${codes[day]}`, `every other ${days[day]}`],
  ["FREQ=MONTHLY", "every month"],
  ["FREQ=YEARLY", "every year"],
];

const weekday = (at, zone) => new Date(wall(at, zone).slice(0, 10) + "T00:00:00Z").getUTCDay();

function describe(u) {
  const rule = (u.rule || "").replace(/^RRULE:/, "");
  return `${span(u.start, u.end, u.timezone)}, ${(repeats(weekday(u.start, u.timezone)).find(([r]) => r === rule) || [0, rule])[1]}`;
}

// unavailabilityCard lists the reader's unavailabilities, which count in all teams, and adds and removes them.
export function unavailabilityCard(page, team, zone, changed) {
  const list = h("div", {}, h("p", { class: "dim" }, "…"));
  const at = path`/teams/${team}/unavailability`;
  async function load() {
    const all = (await v1.list(at)).map(timed).filter((u) => u.user.toLowerCase() === page.user.toLowerCase());
    const read = all.filter((u) => u.subscription && u.end > Date.now() / 1000),
      mine = [...all.filter((u) => !u.subscription), ...read.slice(0, shown)];
    fill(
      list,
      mine.length
        ? h(
            "ul",
            { class: "plain" },
            mine.map((u) =>
              h(
                "li",
                { class: "row nowrap spread" },
                h(
                  "div",
                  { class: "wraps" },
                  describe(u),
                  h("div", { class: "dim small" }, u.timezone.replaceAll("_", " "), u.note && " · " + u.note, u.subscription && " · from a calendar", u.scope === "team" && " · in one team, entered by " + u.set_by),
                ),
                !u.subscription && removeButton("Remove: " + describe(u), () => v1.remove(path`/unavailability/${u.id}`).then(() => Promise.all([load(), changed()]), (e) => flash(e.text || String(e), true))),
              ),
            ),
          )
        : h("p", { class: "dim" }, "Nothing entered: schedules may choose you at any time."),
      read.length > shown && h("p", { class: "dim small" }, `and ${read.length - shown} more from calendars`),
    );
  }
  async function add() {
    const now = Math.floor(Date.now() / 3600000) * 3600,
      when = moments(now + 86400, now + 86400 + 4 * 3600, zone);
    const repeat = h("select", { name: "rule" }),
      note = h("input", { name: "note", maxlength: 200 });
    const refresh = () => {
      const chosen = repeat.selectedIndex;
      repeat.replaceChildren(...options(repeats(weekday(when.start(), zone))));
      repeat.selectedIndex = Math.max(0, chosen);
    };
    when.el.addEventListener("change", refresh);
    refresh();
    const body = () => ({ user: page.user, start: iso(when.start()), end: iso(when.end()), timezone: zone, rule: repeat.value, note: note.value });
    const found = h("div", { "aria-live": "polite" });
    let asked = 0;
    const preview = async () => {
      const mine = ++asked;
      const { conflicts } = when.problem() ? { conflicts: [] } : await v1.post(at + "?preview=true", body()).catch(() => ({ conflicts: [] })); // saving shows the error
      if (mine === asked) fill(found, warnConflicts(conflicts, zone));
    };
    when.el.addEventListener("change", preview);
    repeat.addEventListener("change", preview);
    preview();
    let made;
    const saved = await form({
      title: "When I cannot be on call",
      label: "Add",
      fields: [when.el, field("Repeats", repeat), field("Note", note, "Your team can read it."), found],
      save: async () => {
        if (when.problem()) throw Object.assign(new Error(when.problem()), { text: when.problem() });
        made = await v1.post(at, body());
      },
    });
    if (!saved) return;
    if (made.conflicts.length)
      flash(
        "You are on call in this time: " +
          made.conflicts
            .slice(0, 3)
            .map(timed)
            .map((c) => `${c.role} of ${c.team}, ${span(c.start, c.end, zone)}`)
            .join("; ") +
          (made.conflicts.length > 3 ? ` and ${made.conflicts.length - 3} more` : "") +
          ". Your shifts stay as they are: ask somebody to take them.",
        true,
      );
    await load();
    changed();
  }
  load().catch((e) => fill(list, h("div", { class: "flash bad", role: "alert" }, e.text || String(e))));
  return card(
    "When I cannot be on call",
    list,
    !page.readOnly && h("button", { type: "button", onclick: () => add().catch((e) => flash(e.text || String(e), true)) }, "Add…"),
  );
}
