// A small calendar with the shifts that a schedule would make.
import { fill, h, problem } from "./dom.js";
import { grid } from "./grid.js";
import { roleBadge } from "./roles.js";
import { length, span } from "./zone.js";

// previewGrid shows the shifts of the next weeks. range(from, to) returns them, or throws.
export function previewGrid(zone, people, range) {
  const title = h("strong", { class: "range" }),
    holder = h("div", { class: "grid-holder", tabindex: 0, role: "group", "aria-label": "Shifts of the schedule" }),
    note = h("div", { class: "stack", "aria-live": "polite" });
  let calendar,
    from,
    to,
    asked = 0;
  const go = (step, text, label) => h("button", { type: "button", "aria-label": label, onclick: () => calendar.go(step) }, text);
  const el = h(
    "div",
    { class: "stack preview" },
    h("div", { class: "row" }, go(-1, "‹", "Earlier"), go(1, "›", "Later"), title),
    note,
    holder,
  );
  async function load() {
    const mine = ++asked;
    try {
      const { shifts, unfilled = [], kept = [], text } = await range(Math.floor(from), Math.floor(to));
      if (mine !== asked) return;
      calendar.show(shifts, people);
      fill(
        note,
        text && h("p", { class: "dim small" }, text),
        unfilled.length > 0 &&
          h(
            "div",
            { class: "flash bad", role: "alert" },
            h("strong", {}, "Nobody is available for these shifts: "),
            h(
              "ul",
              {},
              unfilled
                .slice(0, 10)
                .map((u) => h("li", {}, span(u.start, u.end, zone), ` (${length(u.end - u.start)})`, u.why && ": " + u.why)),
            ),
          ),
        kept.length > 0 &&
          h(
            "p",
            { class: "dim small" },
            "Kept, because people added or changed them: ",
            kept.slice(0, 10).map((k) => h("span", {}, roleBadge(k.role), ` ${k.full_name || k.user} ${span(k.start, k.end, zone)} `)),
          ),
      );
    } catch (e) {
      if (mine !== asked) return;
      calendar.show([], people);
      fill(note, h("div", { class: "flash bad", role: "alert" }, problem(e)));
      if (!e.text) throw e;
    }
  }
  return {
    el,
    // start draws the grid. The element must be on the page.
    start() {
      calendar = grid(holder, {
        zone,
        view: "ahead",
        editable: false,
        on: {
          range(a, b, text) {
            from = a;
            to = b;
            title.textContent = text;
            load();
          },
          open() {},
          changeable: () => false,
        },
      });
    },
    load: () => {
      if (to) load();
    },
    stop: () => calendar?.destroy(),
  };
}
