// What a shift is, and what can be done with it.
import { field, flash, h, options, working } from "./dom.js";
import { path, v0, v1 } from "./api.js";
import { dialog, form } from "./dialog.js";
import { propose } from "./changes.js";
import { roleBadge } from "./roles.js";
import { addOrReplace, edit, send } from "./shiftform.js";
import { length, span, stamp } from "./zone.js";

// details opens what is known of a shift beside its place on the calendar. done is called after a change.
export function details({ shift, near, team, roles, shifts, zone, page, done }) {
  const own = shift.team === team.name && shift.id > 0, may = own && team.mayEdit;
  const person = team.users?.[shift.user];
  const button = (text, act, kind) => h("button", { type: "button", class: kind, onclick: async () => { d.close(); if (await act()) done(); } }, text);
  const facts = [
    ["Who", shift.full_name || shift.user], ["When", span(shift.start, shift.end, zone)], ["Length", length(shift.end - shift.start)],
    shift.note && ["Note", shift.note], !own && shift.id > 0 && ["From", "the calendar of team " + shift.team],
    shift.schedule_id && ["Made by", "schedule " + shift.schedule_id], shift.link_id && ["Linked", "one of several shifts that belong together"],
    ...(team.member ? Object.entries(person?.contacts || {}) : []).map(([mode, to]) => [mode, contact(mode, to)]),
  ].filter(Boolean);
  const context = { team, roles, shifts, zone, shift };
  const mine = shift.user.toLowerCase() === page.user.toLowerCase();
  const d = dialog({
    title: "Shift", near,
    body: h("div", { class: "stack" }, roleBadge(shift.role), h("dl", { class: "facts" }, facts.map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]))),
    actions: may ? [
      button("Edit", () => edit(context)),
      button("Override…", () => addOrReplace({ ...context, start: Math.max(shift.start, Math.floor(Date.now() / 1000)), end: shift.end, replace: true, role: shift.role })),
      button("Swap…", () => swap(context)),
      mine && team.belongs && button("Ask for a swap…", () => requestSwap({ ...context, page })),
      button("Delete", () => remove(context), "danger"),
    ].filter(Boolean) : [],
  });
}

export function contact(mode, to) {
  if (mode === "email") return h("a", { href: "mailto:" + to }, to);
  if (mode === "call" || mode === "sms") return h("a", { href: (mode === "call" ? "tel:" : "sms:") + to }, to);
  return to;
}

async function remove({ shift, zone }) {
  const all = h("input", { type: "checkbox" });
  const request = () => all.checked ? { action: "delete_link", link_id: shift.link_id } : { action: "delete", id: shift.id };
  return propose({
    title: "Delete shift", label: "Delete", zone, ask: request,
    form: h("div", { class: "stack" }, h("p", {}, "Nobody takes its place: look at what remains."),
      shift.link_id && h("label", { class: "check" }, all, h("span", {}, "All linked shifts"))),
    save: () => all.checked ? v0.remove(path`/events/link/${shift.link_id}`) : send(request()),
  });
}

const worded = (s, zone) => `${s.full_name || s.user}, ${s.role}, ${span(s.start, s.end, zone)}`;

// candidates are shifts that a shift can be exchanged for: of the team, somebody else's, not over.
function candidates({ shift, shifts, team }) {
  return shifts.filter((s) => s.id > 0 && s.team === team.name && s.user !== shift.user && s.end > Date.now() / 1000).sort((a, b) => a.start - b.start);
}

// upcoming reads the shifts that can be exchanged, also those that are not on the screen.
async function upcoming(context) {
  const now = Math.floor(Date.now() / 1000);
  const found = await v0.get(`/events?team=${encodeURIComponent(context.team.name)}&include_subscribed=false&end__gt=${now}`);
  return candidates({ ...context, shifts: found });
}

async function swap(context) {
  const { shift, zone } = context;
  let list;
  try { list = await upcoming(context); } catch (e) { flash(e.text || String(e), true); return false; }
  const sorted = [...list.filter((s) => s.role === shift.role), ...list.filter((s) => s.role !== shift.role)];
  const other = h("select", { "aria-label": "Swap with" }, h("option", { value: "" }, "Choose a shift"), options(sorted.map((s) => [s.id, worded(s, zone)])));
  const linked = h("input", { type: "checkbox" });
  const side = (s) => linked.checked && s.link_id ? { id: s.link_id, linked: true } : { id: s.id, linked: false };
  const request = () => {
    const chosen = sorted.find((s) => String(s.id) === other.value);
    return chosen ? { action: "swap", events: [side(shift), side(chosen)] } : "Choose a shift to swap with.";
  };
  return propose({
    title: "Swap", label: "Swap", zone, ask: request, save: () => send(request()),
    form: h("div", { class: "stack" }, h("p", {}, worded(shift, zone)), field("With", other),
      h("label", { class: "check" }, linked, h("span", {}, "With the shifts they are linked with"))),
  });
}

// requestSwap asks a colleague, who has to agree.
async function requestSwap({ shift, zone, team, ...rest }) {
  let list;
  try { list = await upcoming({ shift, team, ...rest }); } catch (e) { flash(e.text || String(e), true); return false; }
  const other = h("select", { name: "other", required: true }, h("option", { value: "" }, "Choose a shift"), options(list.map((s) => [s.id, worded(s, zone)])));
  const note = h("input", { name: "note", maxlength: 1000 });
  const sent = await form({
    title: "Ask for a swap", label: "Ask",
    fields: [h("p", {}, "Yours: " + worded(shift, zone)), field("In exchange for", other, "Its owner is asked. Nothing changes until they agree."), field("Message", note)],
    save: () => v1.post(path`/teams/${team.name}/swap-requests`, { event_id: shift.id, other_event_id: Number(other.value), note: note.value }),
  });
  if (sent) flash("The request was sent. You see it under My shifts.");
  return sent;
}

// requestList shows swap requests; me is who looks.
export function requestList(requests, { me, zone, done }) {
  if (!requests.length) return h("p", { class: "dim" }, "No open swap requests.");
  const act = (r, verb, text, kind) => h("button", { type: "button", class: kind, onclick: async (e) => {
    try {
      await working(e.target, () => v1.post(path`/swap-requests/${r.id}/` + verb, {}));
      flash({ accept: "Swapped.", decline: "Declined.", withdraw: "Withdrawn." }[verb]);
      done();
    } catch (err) {
      flash(err.text || String(err), true);
    }
  } }, text);
  const same = (a) => (a || "").toLowerCase() === me.toLowerCase();
  return h("ul", { class: "plain" }, requests.map((r) => h("li", { class: "request" },
    h("div", {}, h("strong", {}, r.requester), " gives ", r.event ? worded(r.event, zone) : "a shift", " for ", r.other_event ? worded(r.other_event, zone) : "a shift of " + r.other,
      r.note && h("div", { class: "dim" }, "“" + r.note + "”"), r.created && h("div", { class: "dim small" }, "asked " + stamp(r.created, zone))),
    h("div", { class: "row" }, same(r.other) && act(r, "accept", "Accept", "primary"), same(r.other) && act(r, "decline", "Decline"), same(r.requester) && act(r, "withdraw", "Withdraw")))));
}

