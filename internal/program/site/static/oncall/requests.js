// Swap requests: the reader asks others to take a shift, in exchange or not. Nothing changes until another person accepts.
import { bdi, flash, h, isolated, working } from "./dom.js";
import { path, query, undated, v0, v1 } from "./api.js";
import { span, stamp } from "./zone.js";

export const worded = (s, zone) => `${isolated(s.full_name || s.user)}, ${s.role}, ${span(s.start, s.end, zone)}`;

// upcoming reads all current and future shifts of a team, not only those on the screen.
export async function upcoming(team) {
  const found = await v0.get("/events" + query({ team, include_subscribed: false, end__gt: Math.floor(Date.now() / 1000) }));
  return found.sort((a, b) => a.start - b.start);
}

const same = (a, b) => (a || "").toLowerCase() === (b || "").toLowerCase();

// concerns reports whether a person sent or received the request. A request to everybody concerns everybody.
export const concerns = (r, user) => same(r.requester, user) || !r.other || same(r.other, user);

// openRequests reads the open requests of some teams.
export async function openRequests(teams) {
  const all = await Promise.all(
    teams.map(async (team) =>
      (await v1.list(path`/teams/${team}/swap-requests` + query({ limit: 500 }))).filter((r) => r.state === "open").map((r) => ({ ...undated(r), team })),
    ),
  );
  return all.flat();
}

// requestList shows swap requests with the actions of the reader.
export function requestList(requests, { me, readOnly, zone, done }) {
  if (!requests.length) return h("p", { class: "dim" }, "No open swap requests.");
  const act = (r, verb, text, kind) =>
    h(
      "button",
      {
        type: "button",
        class: kind,
        onclick: async (e) => {
          try {
            await working(e.target, () => v1.post(path`/swap-requests/${r.id}/` + verb, {}));
            flash({ accept: "Accepted: the calendar was changed.", decline: "Declined.", withdraw: "Withdrawn." }[verb]);
            done();
          } catch (err) {
            flash(err.text || String(err), true);
          }
        },
      },
      text,
    );
  const shifts = (list) =>
    h(
      "ul",
      {},
      list.map((s) => h("li", {}, worded(s, zone))),
    );
  return h(
    "ul",
    { class: "plain" },
    requests.map((r) => {
      const asked = !same(r.requester, me) && (!r.other || same(r.other, me));
      return h(
        "li",
        { class: "request" },
        h(
          "div",
          {},
          h("strong", {}, bdi(r.requester)),
          " asks ",
          r.other ? bdi(r.other) : "everybody",
          " to take",
          shifts(r.give),
          r.take.length > 0 && ["in exchange for", shifts(r.take)],
          r.note && h("div", { class: "dim", dir: "auto" }, "“" + r.note + "”"),
          r.created && h("div", { class: "dim small" }, `asked ${stamp(r.created, zone)}, in ${r.team}`),
        ),
        !readOnly &&
          h(
            "div",
            { class: "row" },
            asked && act(r, "accept", "Accept", "primary"),
            asked && r.other && act(r, "decline", "Decline"),
            same(r.requester, me) && act(r, "withdraw", "Withdraw"),
          ),
      );
    }),
  );
}
