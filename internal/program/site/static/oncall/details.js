// The details of a shift, and its actions.
import { field, flash, h, options } from "./dom.js";
import { dialog } from "./dialog.js";
import { propose } from "./changes.js";
import { requestSwap } from "./requestswap.js";
import { upcoming, worded } from "./requests.js";
import { contact, roleBadge } from "./roles.js";
import { addOrReplace, edit, unchanged } from "./shiftform.js";
import { length, span } from "./zone.js";

// details opens the details of a shift next to it on the calendar. done is called after a change.
export function details({ shift, near, team, roles, shifts, zone, page, done }) {
  const own = shift.team === team.name && shift.id > 0,
    may = own && team.mayEdit;
  const person = team.users?.[shift.user];
  const button = (text, act, kind) =>
    h(
      "button",
      {
        type: "button",
        class: kind,
        onclick: async () => {
          d.close();
          if (await act()) done();
        },
      },
      text,
    );
  const facts = [
    ["Who", shift.full_name || shift.user],
    ["When", span(shift.start, shift.end, zone)],
    ["Length", length(shift.end - shift.start)],
    shift.conflict && ["Conflict", "unavailable in this time, as entered by " + (shift.conflict.set_by || "the person")],
    shift.note && ["Note", shift.note],
    !own && shift.id > 0 && ["From", "the calendar of team " + shift.team],
    shift.schedule_id && ["Made by", "schedule " + shift.schedule_id],
    shift.link_id && ["Linked", "one of several shifts that belong together"],
    ...(team.member ? Object.entries(person?.contacts || {}) : []).map(([mode, to]) => [mode, contact(mode, to)]),
  ].filter(Boolean);
  const context = { team, roles, shifts, zone, shift };
  const mine = shift.user.toLowerCase() === page.user.toLowerCase();
  const d = dialog({
    title: "Shift",
    near,
    body: h(
      "div",
      { class: "stack" },
      roleBadge(shift.role),
      h(
        "dl",
        { class: "facts" },
        facts.map(([k, v]) => [h("dt", {}, k), h("dd", { dir: "auto" }, v)]),
      ),
    ),
    actions: may
      ? [
          button("Edit", () => edit(context)),
          button("Override…", () =>
            addOrReplace({
              ...context,
              start: Math.max(shift.start, Math.floor(Date.now() / 1000)),
              end: shift.end,
              replace: true,
              role: shift.role,
            }),
          ),
          button("Swap…", () => swap(context)),
          mine && team.belongs && button("Ask for a swap…", () => requestSwap({ shift, zone, team })),
          button("Delete", () => remove(context), "danger"),
        ].filter(Boolean)
      : [],
  });
}

async function remove({ shift, zone }) {
  const all = h("input", { type: "checkbox" });
  const request = () => (all.checked ? { action: "delete_link", link_id: shift.link_id } : { action: "delete", id: shift.id });
  return propose({
    title: "Delete shift",
    label: "Delete",
    zone,
    ask: request,
    form: h(
      "div",
      { class: "stack" },
      h("p", {}, "Nobody takes the place of this person. Check who else is on call."),
      shift.link_id && h("label", { class: "check" }, all, h("span", {}, "All linked shifts")),
    ),
    check: () => unchanged(shift, zone, all.checked),
  });
}

async function swap(context) {
  const { shift, zone } = context;
  let list;
  try {
    list = (await upcoming(context.team.name)).filter((s) => s.user !== shift.user);
  } catch (e) {
    flash(e.text || String(e), true);
    return false;
  }
  const sorted = [...list.filter((s) => s.role === shift.role), ...list.filter((s) => s.role !== shift.role)];
  const other = h(
    "select",
    { "aria-label": "Swap with" },
    h("option", { value: "" }, "Choose a shift"),
    options(sorted.map((s) => [s.id, worded(s, zone)])),
  );
  const linked = h("input", { type: "checkbox" });
  const side = (s) => (linked.checked && s.link_id ? { id: s.link_id, linked: true } : { id: s.id, linked: false });
  const request = () => {
    const chosen = sorted.find((s) => String(s.id) === other.value);
    return chosen ? { action: "swap_from_now", events: [side(shift), side(chosen)] } : "Choose a shift to swap with.";
  };
  return propose({
    title: "Swap",
    label: "Swap",
    zone,
    ask: request,
    form: h(
      "div",
      { class: "stack" },
      h("p", {}, worded(shift, zone)),
      field("With", other),
      h("label", { class: "check" }, linked, h("span", {}, "Include the linked shifts")),
    ),
  });
}
