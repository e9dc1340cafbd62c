// The editors of weekly schedules and of rotations.
import { announce, field, fill, flash, h, options, working } from "./dom.js";
import { algorithms } from "./algorithms.js";
import { iso, path, undated, v0, v1 } from "./api.js";
import { dialog } from "./dialog.js";
import { layersForm, newLayer } from "./layers.js";
import { patternForm } from "./pattern.js";
import { populate } from "./populate.js";
import { previewGrid } from "./preview.js";
import { sortable } from "./sortable.js";

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
    field("Days ahead", f.ahead, "0: no shifts are made"),
  );

// editor opens a dialog with a form. It resolves to the result of save.
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

// draftPreview shows the shifts that the edited schedule would put on the calendar. draft returns the edited schedule.
function draftPreview({ team, page }, id, draft) {
  let timer;
  const shown = previewGrid(page.teamZone, team.people, async (start, end) => {
    if (end <= Date.now() / 1000) return { shifts: [], text: "Past shifts stay as they are." };
    const r = await v1.post(path`/teams/${team.name}/schedules/preview`, {
      ...draft(),
      team: undefined,
      ...(id && { id }),
      start: iso(Math.max(start, Math.floor(Date.now() / 1000))),
      end: iso(end),
    }).then(undated);
    return { ...r, shifts: r.shifts.map((s) => ({ ...s, id: 0 })) };
  });
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(shown.load, 350);
  };
  return {
    el: shown.el,
    start: shown.start,
    load: later,
    stop() {
      clearTimeout(timer);
      shown.stop();
    },
  };
}

// afterwards reports that a schedule was saved. Processors populate a new schedule. The shifts of a changed schedule are replaced when it
// is populated.
async function afterwards(saved, changed, { team, page, done }) {
  if (!saved) return;
  if (changed) announce("Saved");
  else flash("Saved. The shifts appear on the calendar within a minute.");
  await done();
  if (changed) populate({ id: saved, team, page, done });
}

// current reads a schedule or rotation with its ETag, so that the server refuses to overwrite an edit of another person.
async function current(thing, read) {
  if (!thing) return {};
  try {
    return await read();
  } catch (e) {
    flash(e.text || String(e), true);
    return null;
  }
}

// scheduleForm edits or adds a weekly schedule, with a preview.
export async function scheduleForm(context) {
  const { team, rosters } = context;
  const seen = await current(context.schedule, () => v0.see(path`/schedules/${context.schedule.id}`));
  if (!seen) return;
  const { value: schedule, tag } = seen;
  const f = common(context, schedule?.role, schedule?.roster, schedule?.auto_populate_threshold);
  const pattern = patternForm(schedule?.events || [], schedule?.advanced_mode, () => preview.load());
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
    preview.load();
  });
  algorithm.addEventListener("change", refresh);
  f.roster.addEventListener("change", refresh);
  refresh();
  const body = () => {
    const { events, advanced } = pattern.read();
    return {
      role: f.role.value,
      team: team.name,
      roster: f.roster.value,
      auto_populate_threshold: Number(f.ahead.value),
      advanced_mode: advanced ? 1 : 0,
      events,
      scheduler: { name: algorithm.value, ...(algorithm.value === "round-robin" && { data: names }) },
    };
  };
  const preview = draftPreview(context, schedule?.id, body);
  const saved = await editor(
    schedule ? "Edit schedule" : "Add weekly schedule",
    [
      head(f),
      h("h3", {}, "Pattern"),
      pattern.el,
      field("Who is chosen", algorithm),
      words,
      order,
      h("h3", {}, "Its shifts"),
      preview.el,
    ],
    async () => {
      if (!schedule) return (await v0.post(path`/teams/${team.name}/rosters/${f.roster.value}/schedules`, body())).id;
      await v0.put(path`/schedules/${schedule.id}`, body(), tag);
      return schedule.id;
    },
    preview,
  );
  await afterwards(saved, schedule, context);
}

// rotationForm edits or adds a rotation, with a preview.
export async function rotationForm(context) {
  const { team, rosters, page } = context;
  const seen = await current(context.rotation, () => v1.see(path`/rotations/${context.rotation.id}`));
  if (!seen) return;
  const { value: rotation, tag } = seen;
  const f = common(context, rotation?.role, rotation?.roster, rotation?.auto_populate_threshold);
  const roster = () => rosters[f.roster.value].users.filter((u) => u.in_rotation).map((u) => u.name);
  const layers = layersForm(rotation?.layers || [newLayer(page.teamZone, roster(), 1)], {
    team,
    zone: page.teamZone,
    roster,
    changed: () => preview.load(),
  });
  const title = h("input", { value: rotation?.name || "", maxlength: 100, placeholder: "for example Follow the sun" });
  const body = () => ({
    name: title.value.trim(),
    role: f.role.value,
    roster: f.roster.value,
    auto_populate_threshold: Number(f.ahead.value),
    layers: layers.read(),
  });
  const preview = draftPreview(context, rotation?.id, body);
  const saved = await editor(
    rotation ? "Edit rotation" : "Add rotation",
    [field("Name", title), head(f), layers.el, h("h3", {}, "Its shifts"), preview.el],
    () =>
      rotation
        ? v1.put(path`/rotations/${rotation.id}`, body(), tag).then(() => rotation.id)
        : v1.post(path`/teams/${team.name}/rotations`, body()).then((r) => r.id),
    preview,
  );
  await afterwards(saved, rotation, context);
}
