// The weekly pattern of a schedule, as text and as a form. A pattern has shifts with a start in the week and a length.
import { field, fill, h, options, removeButton } from "./dom.js";
import { face, length } from "./zone.js";

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const day = 86400,
  week = 7 * day,
  half = 43200;
const units = [
  [60, "minutes"],
  [3600, "hours"],
  [day, "days"],
  [week, "weeks"],
];

const clock = (s) => String(Math.floor((s % day) / 3600)).padStart(2, "0") + ":" + String(Math.floor((s % 3600) / 60)).padStart(2, "0");
const seconds = (text) => {
  const [hh, mm] = text.split(":").map(Number);
  return hh * 3600 + mm * 60;
};
const when = (s) => `${days[Math.floor((s % week) / day)]} ${face(clock(s))}`;

// simple returns the values of the basic editor for a pattern; undefined if only the advanced editor can show it.
function simple(events) {
  const sorted = [...events].sort((a, b) => a.start - b.start);
  const first = sorted[0];
  if (!first) return { start: day + 9 * 3600, weeks: 1, halves: false };
  if (sorted.length === 1 && (first.duration === week || first.duration === 2 * week))
    return { start: first.start, weeks: first.duration / week, halves: false };
  const even = sorted.every((e, i) => e.duration === half && e.start === first.start + i * day);
  if (even && (sorted.length === 7 || sorted.length === 14)) return { start: first.start, weeks: sorted.length / 7, halves: true };
  return undefined;
}

// describe describes a pattern in a sentence.
export function describe(events) {
  const s = events.length ? simple(events) : undefined;
  if (s) return `${s.weeks === 1 ? "Weekly" : "Every two weeks"}, hand-off ${when(s.start)}${s.halves ? ", 12 hours a day" : ""}`;
  return [...events]
    .sort((a, b) => a.start - b.start)
    .map((e) => `${when(e.start)} for ${length(e.duration)}`)
    .join("; ");
}

// patternForm edits a pattern; read returns {events, advanced}. It calls changed after a row was added or removed.
export function patternForm(events, advanced, changed) {
  const basic = simple(events);
  const state = {
    advanced: Boolean(advanced) || !basic,
    rows: events.length ? events.map((e) => ({ ...e })) : [{ start: day + 9 * 3600, duration: week }],
  };
  const { start, weeks, halves } = basic || { start: state.rows[0].start, weeks: 1, halves: false };
  const dayField = h(
    "select",
    { "aria-label": "Day of the hand-off" },
    options(
      days.map((d, i) => [i, d]),
      Math.floor((start % week) / day),
    ),
  );
  const timeField = h("input", { type: "time", value: clock(start), required: true, "aria-label": "Time of the hand-off" });
  const every = h(
    "select",
    { "aria-label": "How often" },
    options(
      [
        [1, "every week"],
        [2, "every two weeks"],
      ],
      weeks,
    ),
  );
  const limit = h("input", { type: "checkbox", checked: halves });
  const body = h("div", { class: "stack" });
  const draw = () =>
    fill(
      body,
      state.advanced
        ? advancedRows()
        : [
            h("div", { class: "row" }, field("Hand-off", dayField), field("At", timeField), field("Rotates", every)),
            h("label", { class: "check" }, limit, h("span", {}, "Shifts of 12 hours a day, for day and night teams")),
          ],
    );
  const set = (to) => {
    if (to && !state.advanced) state.rows = read().events;
    state.advanced = to;
    draw();
    changed();
  };
  function advancedRows() {
    return [
      state.rows.map((r, i) => row(r, i)),
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            const last = state.rows.at(-1);
            state.rows.push({ start: last ? last.start + last.duration : day, duration: last?.duration || day });
            draw();
            changed();
          },
        },
        "Add a shift",
      ),
      h("p", { class: "hint" }, "One person has all these shifts of a period. Shifts that touch become one."),
    ];
  }
  function row(r, i) {
    const unit = units.findLast(([n]) => r.duration % n === 0) || units[0];
    const d = h(
      "select",
      { "aria-label": "Day" },
      options(
        [0, 1, 2, 3].flatMap((w) => days.map((name, j) => [w * 7 + j, w ? `${name}, week ${w + 1}` : name])),
        Math.floor(r.start / day),
      ),
    );
    const t = h("input", { type: "time", value: clock(r.start), required: true, "aria-label": "Time" });
    const n = h("input", { type: "number", min: 1, value: r.duration / unit[0], required: true, "aria-label": "Length", class: "narrow" });
    const u = h("select", { "aria-label": "Unit" }, options(units, unit[0]));
    const take = () => {
      r.start = Number(d.value) * day + seconds(t.value || "00:00");
      r.duration = Number(n.value) * Number(u.value);
    };
    for (const el of [d, t, n, u]) el.addEventListener("input", take);
    return h(
      "div",
      { class: "row pattern-row" },
      d,
      t,
      h("span", {}, "for"),
      n,
      u,
      state.rows.length > 1 &&
        removeButton("Remove this shift", () => {
          state.rows.splice(i, 1);
          draw();
          changed();
        }),
    );
  }
  function read() {
    if (state.advanced) return { events: state.rows.map(({ start: s, duration }) => ({ start: s, duration })), advanced: true };
    const first = Number(dayField.value) * day + seconds(timeField.value || "00:00"),
      n = Number(every.value);
    const list = limit.checked
      ? Array.from({ length: 7 * n }, (_, i) => ({ start: first + i * day, duration: half }))
      : [{ start: first, duration: n * week }];
    return { events: list, advanced: false };
  }
  draw();
  const choice = h(
    "div",
    { class: "segmented", role: "group", "aria-label": "Pattern" },
    [
      [false, "Basic"],
      [true, "Advanced"],
    ].map(([value, text]) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(state.advanced === value),
          onclick: (e) => {
            set(value);
            for (const b of choice.children) b.setAttribute("aria-pressed", String(b === e.target));
          },
        },
        text,
      ),
    ),
  );
  return { el: h("div", { class: "stack" }, choice, body), read };
}
