// The editors of weekly schedules and of rotations.
import { announce, field, fill, h, options, working } from "./dom.js";
import { path, v0, v1 } from "./api.js";
import { dialog } from "./dialog.js";
import { layersForm, newLayer } from "./layers.js";
import { patternForm } from "./pattern.js";
import { populate } from "./populate.js";
import { previewGrid } from "./preview.js";
import { sortable } from "./sortable.js";

export const algorithms = [
  {
    name: "default",
    label: "Default",
    text: "Chooses whoever was on call in this role longest ago, and newcomers first. Passes over people who are away or have another shift, and leaves alone what somebody has put on the calendar already.",
  },
  {
    name: "round-robin",
    label: "Round-robin",
    text: "Follows a fixed order, one after the other, whatever else is on the calendar. Vacations are not looked at.",
  },
  {
    name: "no-skip-matching",
    label: "Default (allow duplicate)",
    text: "As Default, but fills a time even if somebody has exactly that shift already: for several people at once.",
  },
  {
    name: "multi-team",
    label: "Default (multi-team aware)",
    text: "As Default (allow duplicate), but people who have a shift in any other team count as busy.",
  },
];
const usualThreshold = 21;

const common = ({ roles, rosters }, role, roster, threshold) => ({
  role: h(
    "select",
    { "aria-label": "Role" },
    options(
      roles.map((r) => r.name),
      role,
    ),
  ),
  roster: h("select", { "aria-label": "Roster" }, options(Object.keys(rosters), roster)),
  ahead: h("input", { type: "number", min: 0, max: 366, value: threshold ?? usualThreshold, class: "narrow", required: true }),
});
const head = (f) =>
  h(
    "div",
    { class: "row" },
    field("Role", f.role),
    field("Roster", f.roster),
    field("Days ahead", f.ahead, "0: only when populated by hand"),
  );

// editor opens a dialog with a form that saves; it resolves to what save returned.
function editor(title, form, save, opened) {
  const button = h("button", { class: "primary" }, "Save");
  const f = h(
    "form",
    {
      class: "stack",
      oninput: () => opened?.load?.(),
      onchange: () => opened?.load?.(),
      onsubmit: async (e) => {
        e.preventDefault();
        try {
          d.fail(null);
          d.close((await working(button, save)) ?? true);
        } catch (err) {
          d.fail(err);
        }
      },
    },
    form,
    h("div", { class: "row" }, button, h("button", { type: "button", onclick: () => d.close() }, "Cancel")),
  );
  const d = dialog({ title, body: f, wide: true });
  opened?.start?.();
  d.done.then(() => opened?.stop?.());
  return d.done;
}

// scheduleForm edits a weekly schedule, or makes one, and shows then what it would put on the calendar.
export async function scheduleForm(context) {
  const { schedule, team, rosters, page, done } = context;
  const f = common(context, schedule?.role, schedule?.roster, schedule?.auto_populate_threshold);
  const pattern = patternForm(schedule?.events || [], schedule?.advanced_mode, () => {});
  const algorithm = h(
    "select",
    { "aria-label": "Algorithm" },
    options(
      algorithms.map((a) => [a.name, a.label]),
      schedule?.scheduler?.name || "default",
    ),
  );
  const words = h("span", { class: "hint" }),
    order = h("ol", { class: "plain members", "aria-label": "Order" });
  let names = schedule?.scheduler?.data || [];
  const members = () => rosters[f.roster.value].users.filter((u) => u.in_rotation).map((u) => u.name);
  const refresh = () => {
    words.textContent = algorithms.find((a) => a.name === algorithm.value).text;
    names = [...names.filter((n) => members().includes(n)), ...members().filter((n) => !names.includes(n))];
    order.hidden = algorithm.value !== "round-robin";
    fill(
      order,
      names.map((n) =>
        h(
          "li",
          { class: "member", data: { key: n } },
          h("span", { class: "grip", "aria-hidden": "true" }, "⠿"),
          h("div", { class: "member-name" }, team.users[n]?.full_name || n),
          h(
            "div",
            { class: "member-acts" },
            h("button", { type: "button", class: "small-button", data: { move: "-1" }, "aria-label": `Move ${n} up` }, "↑"),
            h("button", { type: "button", class: "small-button", data: { move: "1" }, "aria-label": `Move ${n} down` }, "↓"),
          ),
        ),
      ),
    );
  };
  sortable(order, (list) => {
    names = list;
  });
  algorithm.addEventListener("change", refresh);
  f.roster.addEventListener("change", refresh);
  refresh();
  const saved = await editor(
    schedule ? "Edit schedule" : "Add weekly schedule",
    [head(f), h("h3", {}, "Pattern"), pattern.el, field("Who is chosen", algorithm), words, order],
    async () => {
      const { events, advanced } = pattern.read();
      const body = {
        role: f.role.value,
        team: team.name,
        roster: f.roster.value,
        auto_populate_threshold: Number(f.ahead.value),
        advanced_mode: advanced ? 1 : 0,
        events,
        scheduler: { name: algorithm.value, ...(algorithm.value === "round-robin" && { data: names }) },
      };
      if (!schedule) return (await v0.post(path`/teams/${team.name}/rosters/${f.roster.value}/schedules`, body)).id;
      await v0.put(path`/schedules/${schedule.id}`, body);
      return schedule.id;
    },
  );
  if (!saved) return;
  announce("Saved");
  await done();
  populate({ id: saved, team, page, done });
}

// rotationForm edits a rotation, with its result below while it is being edited.
export async function rotationForm(context) {
  const { rotation, team, rosters, page, done } = context;
  const f = common(context, rotation?.role, rotation?.roster, rotation?.auto_populate_threshold);
  const roster = () => rosters[f.roster.value].users.filter((u) => u.in_rotation).map((u) => u.name);
  let timer;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(preview.load, 350);
  };
  const layers = layersForm(rotation?.layers || [newLayer(page.teamZone, roster(), 1)], {
    team,
    zone: page.teamZone,
    roster,
    changed: () => later(),
  });
  const title = h("input", { value: rotation?.name || "", maxlength: 100, placeholder: "for example Follow the sun" });
  const body = () => ({
    name: title.value.trim(),
    role: f.role.value,
    roster: f.roster.value,
    auto_populate_threshold: Number(f.ahead.value),
    layers: layers.read(),
  });
  const preview = previewGrid(page.teamZone, team.people, async (start, end) => {
    const r = await v1.post(path`/teams/${team.name}/rotations/preview`, {
      ...body(),
      ...(rotation && { id: rotation.id }),
      start: Math.max(start, Math.floor(Date.now() / 1000)),
      end,
    });
    return { shifts: r.shifts.map((s) => ({ ...s, id: 0 })), unfilled: r.unfilled, kept: r.kept };
  });
  const saved = await editor(
    rotation ? "Edit rotation" : "Add rotation",
    [field("Name", title), head(f), layers.el, h("h3", {}, "What it makes"), preview.el],
    () =>
      rotation
        ? v1.put(path`/rotations/${rotation.id}`, body()).then(() => rotation.id)
        : v1.post(path`/teams/${team.name}/rotations`, body()).then((r) => r.id),
    { start: preview.start, stop: preview.stop, load: later },
  );
  clearTimeout(timer);
  if (!saved) return;
  announce("Saved");
  await done();
  populate({ id: saved, team, page, done });
}
