// The audit log of a team.
import { fill, h, field, page as read, ready, table } from "./dom.js";
import { query, v0 } from "./api.js";
import { stamp } from "./zone.js";
import { zoneSwitch } from "./zoneswitch.js";

const page = read();
const day = 86400,
  step = 50;
let zone,
  rows = [],
  shown = step,
  from,
  list,
  filter;

ready(async () => {
  zone = zoneSwitch(page, draw);
  from = h("input", { type: "date", value: new Date(Date.now() - 30 * day * 1000).toISOString().slice(0, 10), onchange: load });
  filter = h("input", {
    type: "search",
    placeholder: "Person or action",
    oninput: () => {
      shown = step;
      draw();
    },
  });
  list = h("section", { class: "card flush", "aria-live": "polite" });
  fill(
    page.el,
    h("div", { class: "row spread" }, h("div", { class: "row" }, field("Since", from), field("Filter", filter)), zone.el),
    list,
  );
  await load();
});

async function load() {
  rows = await v0.get("/audit" + query({ team: page.team, start: from.value && Date.parse(from.value + "T00:00:00Z") / 1000 }));
  rows.reverse().sort((a, b) => b.timestamp - a.timestamp);
  shown = step;
  draw();
}

function draw() {
  const word = filter.value.trim().toLowerCase();
  const fit = rows.filter((r) => !word || (r.owner + " " + r.action).toLowerCase().includes(word));
  fill(
    list,
    table(
      ["When", "Who", "What", "Details"],
      fit
        .slice(0, shown)
        .map((r) => [
          h("span", { class: "nowrap" }, stamp(r.timestamp, zone.zone())),
          r.owner,
          r.action.replaceAll("_", " "),
          context(r.context),
        ]),
      "Nothing was changed since this day.",
    ),
    fit.length > shown &&
      h(
        "div",
        { class: "empty" },
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              shown += step;
              draw();
            },
          },
          "Show more",
        ),
      ),
  );
}

function context(text) {
  let value = text;
  try {
    value = JSON.parse(text);
  } catch {
    /* shown as it is */
  }
  const pretty = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (!pretty || pretty === "{}") return "";
  return h("details", {}, h("summary", { dir: "auto" }, summary(value)), h("pre", { class: "context wrap", tabindex: 0, "aria-label": "Details", dir: "auto" }, pretty));
}

// summary returns the first plain values of an object and of the objects inside it.
function summary(value) {
  const plain = [];
  const collect = (v) =>
    Object.entries(v || {}).forEach(([k, x]) => {
      if (x && typeof x === "object") collect(x);
      else if (x !== null && x !== "")
        plain.push(k.replaceAll("_", " ") + " " + (["start", "end", "until"].includes(k) && x > 1e9 ? stamp(x, zone.zone()) : x));
    });
  collect(typeof value === "object" ? value : {});
  return plain.slice(0, 4).join(", ") || "details";
}
