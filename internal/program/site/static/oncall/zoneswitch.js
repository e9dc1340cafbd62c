// The choice of the shown time zone: the team's, the reader's, the browser's, or UTC. The browser remembers it.
import { h } from "./dom.js";
import { browserZone, label, valid } from "./zone.js";

const key = "iris.oncall.zone";

const choicesOf = (page) =>
  [
    ["mine", "Mine", page.zone],
    ["team", "Team", page.team && page.teamZone],
    ["browser", "This browser", browserZone],
    ["utc", "", "UTC"],
  ].filter(([, , zone]) => zone && valid(zone));
const choiceOf = (choices) => choices.find(([name]) => name === read()) || choices[0];

// shownZone returns the chosen zone, for pages and dialogs without the control.
export const shownZone = (page) => choiceOf(choicesOf(page))[2];

// zoneSwitch returns the control and the chosen zone. It calls changed with the new zone.
export function zoneSwitch(page, changed) {
  const choices = choicesOf(page);
  let chosen = choiceOf(choices);
  const shown = h("span", { class: "dim small zone-name", id: "zone-name" });
  const select = h(
    "select",
    {
      "aria-label": "Time zone",
      "aria-describedby": "zone-name",
      id: "zone",
      onchange: () => {
        chosen = choices.find(([name]) => name === select.value);
        write(chosen[0]);
        show();
        changed(chosen[2]);
      },
    },
    choices.map(([name, text, zone]) =>
      h("option", { value: name, selected: name === chosen[0] }, [text, zone.replaceAll("_", " ")].filter(Boolean).join(": ")),
    ),
  );
  const show = () => {
    shown.textContent = "Times in " + label(chosen[2]);
  };
  show();
  return { el: h("div", { class: "zone" }, select, shown), zone: () => chosen[2] };
}

function read() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
function write(value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    /* no storage in private windows */
  }
}
