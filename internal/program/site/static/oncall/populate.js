// Populate: previews the shifts that a schedule puts on the calendar, then saves them.
import { field, flash, h, working } from "./dom.js";
import { path, query, v0 } from "./api.js";
import { dialog } from "./dialog.js";
import { previewGrid } from "./preview.js";
import { instant, label, wall } from "./zone.js";

// populate opens the preview of a schedule, with a button that saves the shifts.
export async function populate({ id, team, page, done }) {
  const zone = page.teamZone;
  const from = h("input", {
    type: "date",
    value: wall(Date.now() / 1000, zone).slice(0, 10),
    required: true,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => preview.load(), 300);
    },
  });
  let timer;
  // Today means from now on: current shifts stay.
  const start = () => Math.max(Math.floor(Date.now() / 1000), instant(from.value + "T00:00:00", zone));
  const preview = previewGrid(zone, team.people, async (a, b) => {
    if (!from.value) throw Object.assign(new Error(), { text: "Choose a day to start on." });
    const found = await v0.get(path`/schedules/${id}/preview` + query({ start: start(), start__lt: b, end__ge: a, team__eq: team.name }));
    return { shifts: found, text: "Dashed shifts are new. Shifts of other schedules and manual shifts stay." };
  });
  const button = h(
    "button",
    {
      type: "button",
      class: "primary",
      onclick: async () => {
        try {
          d.fail(null);
          await working(button, () => v0.post(path`/schedules/${id}/populate`, { start: start() }));
          d.close(true);
        } catch (e) {
          d.fail(e);
        }
      },
    },
    "Populate",
  );
  const d = dialog({
    title: "Preview and populate",
    wide: true,
    body: h("div", { class: "stack" }, field("From", from, "Shifts that this schedule made after that are replaced. Times in the team's zone, " + label(zone) + "."), preview.el),
    actions: [button, h("button", { type: "button", onclick: () => d.close() }, "Cancel")],
  });
  preview.start();
  const made = await d.done;
  preview.stop();
  if (made !== true) return;
  flash("The calendar was populated.");
  done();
}
