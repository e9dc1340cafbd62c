// Times of the week, such as "Monday to Friday from nine to five", as a form and as text.
import { fill, h, removeButton } from "./dom.js";
import { face } from "./zone.js";

const weekdays = [
  ["mon", "Mon"],
  ["tue", "Tue"],
  ["wed", "Wed"],
  ["thu", "Thu"],
  ["fri", "Fri"],
  ["sat", "Sat"],
  ["sun", "Sun"],
];

// describeWindow describes a window.
export const describeWindow = (w) => `${w.days?.length ? w.days.join(" ") : "daily"} ${face(w.from)} – ${face(w.to)}`;

// windowsForm edits a list of windows in place; read returns a copy. Without a chosen day a window applies every day. windowsForm calls
// changed after a press on a button.
export function windowsForm(list, { add = "Add a time", changed = () => {} } = {}) {
  const el = h("div", { class: "stack" });
  const redraw = () => {
    draw();
    changed();
  };
  const time = (w, key, label) =>
    h("input", {
      type: "time",
      value: w[key] === "24:00" ? "00:00" : w[key],
      required: true,
      "aria-label": label,
      oninput: (e) => {
        w[key] = key === "to" && e.target.value === "00:00" ? "24:00" : e.target.value;
      },
    });
  const row = (w, i) =>
    h(
      "div",
      { class: "row pattern-row" },
      h(
        "span",
        { class: "days", role: "group", "aria-label": "Days" },
        weekdays.map(([key, text]) =>
          h(
            "label",
            { class: "day" },
            h("input", {
              type: "checkbox",
              checked: w.days.includes(key),
              onchange: (e) => {
                w.days = e.target.checked ? [...w.days, key] : w.days.filter((d) => d !== key);
              },
            }),
            h("span", {}, text),
          ),
        ),
      ),
      time(w, "from", "From"),
      "to",
      time(w, "to", "To"),
      removeButton("Remove this time", () => {
        list.splice(i, 1);
        redraw();
      }),
    );
  const draw = () =>
    fill(
      el,
      list.map(row),
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            list.push({ days: ["mon", "tue", "wed", "thu", "fri"], from: "09:00", to: "17:00" });
            redraw();
          },
        },
        list.length ? "Add a time" : add,
      ),
    );
  draw();
  return { el, read: () => list.map((w) => structuredClone(w)) };
}
