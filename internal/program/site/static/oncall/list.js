// The list view: the shifts of a month, each under the day on which it begins.
import { bdi, fill, h } from "./dom.js";
import { avatar } from "./person.js";
import { roleBadge, unavailable } from "./roles.js";
import { date as dayName, instant, length, span, wall } from "./zone.js";

// list has the same methods as grid; nothing can be dragged.
export function list(el, { zone, date, on }) {
  let month = wall(date || Date.now() / 1000, zone).slice(0, 7);
  const range = () => {
    const from = instant(month + "-01T00:00:00", zone),
      to = instant(step(month, 1) + "-01T00:00:00", zone);
    on.range(
      from,
      to,
      new Intl.DateTimeFormat(undefined, { timeZone: "UTC", year: "numeric", month: "long" }).format(new Date(month + "-15T00:00:00Z")),
    );
    return { from, to };
  };
  let shown = range();
  return {
    el,
    show(shifts, people, marks = []) {
      const now = Date.now() / 1000,
        today = wall(now, zone).slice(0, 10),
        days = new Map();
      for (const s of [...shifts].sort((a, b) => a.start - b.start || a.id - b.id)) {
        if (s.end <= shown.from || s.start >= shown.to) continue;
        const day = s.start < shown.from ? "" : wall(s.start, zone).slice(0, 10);
        days.set(day, [...(days.get(day) || []), s]);
      }
      const section = ([day, of]) =>
        h(
          "section",
          { class: ["list-day", day === today && "today"] },
          h("h3", {}, day ? dayName(of[0].start, zone) : "Since before", marks.filter((m) => m.day && wall(m.start, zone).slice(0, 10) === day).map((m) => h("div", { class: "dim small", dir: "auto" }, m.title))),
          h(
            "div",
            {},
            of.map((s) => row(s, zone, now, on)),
          ),
        );
      const over = ([, of]) => of.every((s) => s.end <= now);
      const current = now >= shown.from && now < shown.to,
        past = current ? [...days].filter(over) : [],
        rest = current ? [...days].filter((d) => !over(d)) : [...days];
      fill(
        el,
        past.length > 0 && h("details", { class: "earlier" }, h("summary", {}, "Earlier this month"), past.map(section)),
        rest.map(section),
        !days.size && h("p", { class: "empty" }, "No shifts in this month."),
      );
    },
    go(n) {
      month = n === 0 ? wall(Date.now() / 1000, zone).slice(0, 7) : step(month, n);
      shown = range();
    },
    clear() {},
    destroy() {
      fill(el);
    },
  };
}

function row(s, zone, now, on) {
  return h(
    "button",
    {
      type: "button",
      class: ["list-row", s.start <= now && now < s.end && "running", s.end <= now && "past"],
      onclick: (e) => on.open(s, e.currentTarget),
    },
    roleBadge(s.role),
    h("span", { class: "who" }, avatar(s.user), " ", bdi(s.full_name || s.user), s.conflict && [" ", h("span", { class: "chip bad" }, unavailable)]),
    h("span", { class: "dim small" }, span(s.start, s.end, zone), " · ", length(s.end - s.start)),
  );
}

// step returns the month that is n months after a month such as 2026-11.
function step(month, n) {
  const [y, m] = month.split("-").map(Number),
    t = y * 12 + m - 1 + n;
  return String(Math.floor(t / 12)).padStart(4, "0") + "-" + String((t % 12) + 1).padStart(2, "0");
}
