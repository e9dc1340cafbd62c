// The holidays of a team, from an iCal file. A rotation can skip holidays or cover only them.
import { card, fill, h, leftOut, working } from "./dom.js";
import { path, v1 } from "./api.js";

// holidayCard lists future holidays. Administrators can replace the file.
export function holidayCard(team) {
  const list = h("div", { "aria-live": "polite" }, h("p", { class: "dim" }, "…"));
  const file = h("input", { type: "file", accept: ".ics,text/calendar", "aria-label": "iCal file", required: true });
  const button = h("button", {}, "Use this file");
  const at = path`/teams/${team.name}/holidays`;
  const attempt = (el, run) =>
    working(el, async () => {
      try {
        await run();
        await load();
      } catch (e) {
        fill(list, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
      }
    });
  async function load() {
    const { holidays: days, left_out: left } = await v1.get(at);
    const today = new Date().toISOString().slice(0, 10),
      next = days.filter((d) => d.date >= today);
    const remove = h("button", { type: "button", class: "link bad", onclick: () => attempt(remove, () => v1.remove(at)) }, "Remove all");
    fill(
      list,
      days.length
        ? [
            h(
              "ul",
              { class: "plain" },
              next.slice(0, 8).map((d) => h("li", {}, h("span", { class: "mono" }, d.date), " ", d.name)),
            ),
            h("p", { class: "dim small" }, `${days.length} days, ${next.length} of them in the future. `, team.mayManage && remove),
          ]
        : h("p", { class: "dim" }, "No holidays are known."),
      leftOut(left),
    );
  }
  load().catch((e) => fill(list, h("div", { class: "flash bad", role: "alert" }, e.text || String(e))));
  return card(
    "Holidays",
    h("p", { class: "dim small" }, "From a file, or from a subscription above: to a calendar, or to the holidays of a country."),
    list,
    team.mayManage &&
      h(
        "form",
        {
          class: "row adder",
          onsubmit: (e) => {
            e.preventDefault();
            attempt(button, async () => v1.calendar(at, await file.files[0].text()));
          },
        },
        file,
        button,
      ),
  );
}
