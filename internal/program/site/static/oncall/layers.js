// The form of a rotation: layers of people who take turns. Where layers overlap, the later layer takes precedence.
import { field, fill, h, options, removeButton } from "./dom.js";
import { name } from "./rights.js";
import { sortable } from "./sortable.js";
import { describeWindow, windowsForm } from "./windows.js";
import { face, wall, wallStamp } from "./zone.js";

const units = [
  ["hours", "hours"],
  ["days", "days"],
  ["weeks", "weeks"],
  ["months", "months"],
  ["business-days", "business days"],
];
const holidayRules = [
  ["keep", "like any other day"],
  ["skip", "nobody of this layer"],
  ["only", "only on holidays"],
];

export function newLayer(zone, members, number) {
  // The most recent Monday morning, so that a new rotation covers the present.
  const monday = new Date(wall(Date.now() / 1000 - 9 * 3600, zone).slice(0, 10) + "T00:00:00Z");
  monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
  return {
    name: "Layer " + number,
    start: monday.toISOString().slice(0, 10) + "T09:00",
    end: null,
    every: 1,
    unit: "weeks",
    hand_offs: [],
    restrict: [],
    holidays: "keep",
    members: members.map((user) => ({ user })),
  };
}

// describe describes a layer in a sentence.
export function describe(l) {
  const unit = (units.find(([u]) => u === l.unit) || [0, l.unit])[1];
  return (
    `${l.every === 1 ? "every " + unit.replace(/s$/, "") : `every ${l.every} ${unit}`}, from ${wallStamp(l.start)}` +
    (l.end ? ` until ${wallStamp(l.end)}` : "") +
    (l.hand_offs?.length ? `, hand-offs at ${l.hand_offs.map(face).join(", ")}` : "") +
    (l.restrict?.length
      ? ", only " + l.restrict.map(describeWindow).join("; ")
      : "")
  );
}

// layersForm edits layers in place; read returns them. It calls changed after a press on a button.
export function layersForm(layers, { team, zone, roster, changed }) {
  const list = layers.map((l) => structuredClone(l));
  const body = h("div", { class: "stack" });
  const redraw = () => {
    draw();
    changed();
  };
  const draw = () =>
    fill(
      body,
      list.map((l, i) => layer(l, i)),
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            list.push(newLayer(zone, roster(), list.length + 1));
            redraw();
          },
        },
        "Add a layer",
      ),
      h(
        "p",
        { class: "hint" },
        "Where layers overlap, the later one applies. Times are in the team's zone, ",
        zone.replaceAll("_", " "),
        ".",
      ),
    );

  function layer(l, i) {
    const bind = (el, key, read = (x) => x.value) => {
      el.addEventListener("input", () => {
        l[key] = read(el);
      });
      return el;
    };
    const short = (l.start || "").slice(0, 16);
    return h(
      "fieldset",
      { class: "layer" },
      h(
        "legend",
        {},
        bind(h("input", { value: l.name || "", "aria-label": "Name of the layer", placeholder: "Layer " + (i + 1) }), "name"),
        list.length > 1 &&
          removeButton("Remove this layer", () => {
            list.splice(i, 1);
            redraw();
          }),
      ),
      h(
        "div",
        { class: "row" },
        field("First hand-off", bind(h("input", { type: "datetime-local", value: short, required: true }), "start")),
        field(
          "Ends (never when empty)",
          bind(h("input", { type: "datetime-local", value: (l.end || "").slice(0, 16) }), "end", (x) => x.value || null),
        ),
        field(
          "A turn lasts",
          h(
            "span",
            { class: "row nowrap" },
            bind(
              h("input", { type: "number", min: 1, max: 366, value: l.every, class: "narrow", required: true, "aria-label": "Length" }),
              "every",
              (x) => Number(x.value),
            ),
            bind(h("select", { "aria-label": "Unit" }, options(units, l.unit)), "unit"),
          ),
        ),
        field("On holidays", bind(h("select", {}, options(holidayRules, l.holidays || "keep")), "holidays")),
      ),
      field(
        "Hand-offs in a day",
        bind(
          h("input", {
            value: (l.hand_offs || []).join(", "),
            placeholder: "for example 01:00, 09:00, 17:00",
            pattern: "\\s*(\\d{1,2}:\\d{2}(\\s*,\\s*\\d{1,2}:\\d{2})*)?\\s*",
          }),
          "hand_offs",
          (x) =>
            x.value
              .split(",")
              .map((t) => t.trim().padStart(5, "0"))
              .filter((t) => /^\d{2}:\d{2}$/.test(t)),
        ),
        "For turns of days or business days: every time is a hand-off. Empty: one hand-off per turn, at the time of the first one.",
      ),
      windows(l),
      members(l),
    );
  }

  function windows(l) {
    l.restrict ||= [];
    return h(
      "div",
      { class: "stack" },
      h("span", { class: "label" }, "Only at these times"),
      windowsForm(l.restrict, { add: "Restrict to some times…", changed }).el,
    );
  }

  function members(l) {
    const people = new Map(team.people.map((p) => [p.name, name(p)]));
    const ol = h(
      "ol",
      { class: "plain members", "aria-label": "Turns" },
      l.members.map((m, i) =>
        h(
          "li",
          { class: "member", data: { key: m.user } },
          h("span", { class: "grip", "aria-hidden": "true" }, "⠿"),
          h("div", { class: "member-name" }, people.get(m.user) || m.user),
          h(
            "div",
            { class: "member-acts" },
            h("label", { class: "inline" }, "joins", date(m, "joins")),
            h("label", { class: "inline" }, "leaves", date(m, "leaves")),
            h("button", { type: "button", class: "small-button", data: { move: "-1" }, "aria-label": `Move ${m.user} up` }, "↑"),
            h("button", { type: "button", class: "small-button", data: { move: "1" }, "aria-label": `Move ${m.user} down` }, "↓"),
            removeButton("Remove " + m.user, () => {
              l.members.splice(i, 1);
              redraw();
            }),
          ),
        ),
      ),
    );
    sortable(ol, (order) => {
      l.members = order.map((u) => l.members.find((m) => m.user === u));
      redraw();
    });
    const more = team.people.filter((p) => !l.members.some((m) => m.user === p.name));
    const add = h(
      "select",
      {
        "aria-label": "Add a person",
        onchange: () => {
          if (add.value) {
            l.members.push({ user: add.value });
            redraw();
          }
        },
      },
      h("option", { value: "" }, "Add a person…"),
      options(more.map((p) => [p.name, name(p)])),
    );
    return h("div", { class: "stack" }, h("span", { class: "label" }, "Turns, in this order"), ol, more.length > 0 && add);
  }

  const date = (m, key) =>
    h("input", {
      type: "date",
      value: m[key] || "",
      oninput: (e) => {
        if (e.target.value) m[key] = e.target.value;
        else delete m[key];
      },
    });
  draw();
  return { el: body, read: () => list.map((l) => structuredClone(l)) };
}
