// The contacts of the reader. A changed contact is verified with a code, because Iris accepts replies from it in the name of the reader.
import { card, fill, flash, h, working } from "./dom.js";
import { path, v1 } from "./api.js";

export function contactsCard(page) {
  const list = h("div", {}, h("p", { class: "dim" }, "…"));
  const attempt = async (button, run, done) => {
    try {
      await working(button, run);
      flash(done);
    } catch (e) {
      flash(e.text || String(e), true);
    }
  };

  async function load() {
    const contacts = await v1.list(path`/users/${page.user}/contacts`);
    fill(
      list,
      contacts.length ? h("ul", { class: "plain" }, contacts.map(item)) : h("p", {}, "You have no contacts: no page reaches you. ", h("a", { href: path`/people/${page.user}` }, "Add one")),
    );
  }

  function item(c) {
    const state = c.verified ? "verified" : c.verifiable ? "not verified: a reply must name the number of a message" : "";
    return h(
      "li",
      {},
      h("div", {}, c.mode, " ", h("bdi", {}, c.destination), state && h("span", { class: "dim" }, " · ", state)),
      c.verifiable && !c.verified && verification(c),
    );
  }

  function verification(c) {
    const at = path`/users/${page.user}/contacts/${c.mode}`;
    const code = h("input", { inputMode: "numeric", autocomplete: "one-time-code", size: 10, "aria-label": `Code sent by ${c.mode}` });
    const send = h(
      "button",
      { type: "button", onclick: () => attempt(send, () => v1.post(at + "/code", {}), "The code was sent.") },
      "Send a code",
    );
    const verify = h(
      "button",
      {
        type: "button",
        onclick: () =>
          attempt(
            verify,
            async () => {
              await v1.post(at + "/verify", { code: code.value });
              await load();
            },
            "The contact is verified.",
          ),
      },
      "Verify",
    );
    return h("div", { class: "row" }, send, code, verify);
  }

  load().catch((e) => fill(list, h("p", { class: "dim" }, e.text || String(e))));
  return card("My contacts", list);
}
