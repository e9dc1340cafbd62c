// Import of an iCalendar file: shows what would change before anything is stored.
import { bdi, field, fill, flash, h, options, working } from "./dom.js";
import { path, query, v1 } from "./api.js";
import { showChanges } from "./changes.js";
import { dialog } from "./dialog.js";
import { shownZone } from "./zoneswitch.js";
import { label } from "./zone.js";

// importCalendar opens the dialog. done is called after an import.
export async function importCalendar({ team, roles, rosters, page, done }) {
  const role = h("select", {}, options(roles.map((r) => r.name)));
  const roster = h("select", {}, h("option", { value: "" }, "everybody in the team"), options(Object.keys(rosters)));
  const file = h("input", { type: "file", accept: ".ics,text/calendar" });
  const text = h("textarea", { rows: 5, class: "mono", placeholder: "BEGIN:VCALENDAR", spellcheck: "false" });
  const result = h("div", { class: "stack", "aria-live": "polite" }, h("p", { class: "dim small" }, "Choose a file, or paste its text. Nothing is stored before you have seen what changes."));
  const button = h("button", { type: "button", class: "primary", disabled: true }, "Import");
  const send = (preview) =>
    v1.calendar(path`/teams/${team.name}/imports` + query({ role: role.value, roster: roster.value, preview: preview || undefined }), text.value, "POST");
  let asked = 0;
  const preview = async () => {
    const mine = ++asked;
    button.disabled = true;
    if (!text.value.trim()) return;
    try {
      const found = await send(true);
      if (mine !== asked) return;
      button.disabled = !found.added.length && !found.changed.length && !found.removed.length;
      fill(result, outcome(found, shownZone(page)));
    } catch (e) {
      if (mine !== asked) return;
      fill(result, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
      if (!e.text) throw e;
    }
  };
  let timer;
  text.addEventListener("input", () => {
    clearTimeout(timer);
    button.disabled = true;
    timer = setTimeout(preview, 400);
  });
  file.addEventListener("change", async () => {
    text.value = file.files[0] ? await file.files[0].text() : "";
    preview();
  });
  role.addEventListener("change", preview);
  roster.addEventListener("change", preview);
  const d = dialog({
    title: "Import a calendar",
    body: h(
      "div",
      { class: "stack" },
      h("p", {}, "The shifts of the next year are read from an iCalendar file (.ics). An event must name a person of the team, or invite the person by e-mail. The same file can be imported again: its shifts are then updated."),
      h("div", { class: "pair" }, field("Role of the shifts", role), field("People from", roster)),
      field("File", file),
      field("Or the text of the file", text),
      h("h3", {}, "What changes"),
      result,
    ),
    actions: [button, h("button", { type: "button", onclick: () => d.close() }, "Cancel")],
  });
  button.onclick = async () => {
    try {
      d.fail(null);
      await working(button, () => send(false));
      d.close(true);
    } catch (e) {
      d.fail(e);
    }
  };
  if ((await d.done) !== true) return;
  flash("The calendar was imported.");
  done();
}

const shown = 20; // shifts of a preview

function outcome(found, zone) {
  const count = (list, word) => list.length > 0 && `${list.length} ${word}`;
  const parts = [count(found.added, "new"), count(found.changed, "changed"), count(found.removed, "removed"), found.kept > 0 && `${found.kept} kept as they are`].filter(Boolean);
  return [
    h("p", {}, parts.length ? "Shifts: " + parts.join(", ") + ". Times in " + label(zone) + "." : "This file makes no shifts."),
    showChanges(
      { added: found.added.slice(0, shown), removed: found.removed.slice(0, shown), changed: found.changed.slice(0, shown), conflicts: found.conflicts },
      zone,
    ),
    found.unmatched.length > 0 &&
      h(
        "div",
        { class: "flash" },
        h("strong", {}, "Left out: "),
        h(
          "ul",
          {},
          found.unmatched.slice(0, shown).map((u) => h("li", {}, bdi(u.summary || u.uid), ": ", bdi([u.names.join(", "), u.why].filter(Boolean).join(", ")))),
          found.unmatched.length > shown && h("li", {}, `and ${found.unmatched.length - shown} more`),
        ),
      ),
  ];
}
