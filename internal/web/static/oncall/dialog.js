// Dialogs. They use the browser's own: the focus stays inside, Escape closes, and it comes back to where it was.
import { fill, h, problem as worded, working } from "./dom.js";

// dialog opens one and returns it; done resolves with what close was called with, undefined when it was dismissed.
export function dialog({ title, body, actions = [], near, wide }) {
  const problem = h("div", { class: "flash bad", role: "alert", hidden: true });
  const warned = h("div", { class: "flash", role: "alert", hidden: true }, "What you entered is not saved. Press Escape again to discard it.");
  const el = h(
    "dialog",
    { class: ["dialog", wide && "wide", near && "near"], "aria-label": title, tabindex: -1 },
    h(
      "div",
      { class: "dialog-head" },
      h("h2", {}, title),
      h("button", { type: "button", class: "link close", "aria-label": "Close", onclick: () => close() }, "×"),
    ),
    h("div", { class: "dialog-body" }, warned, body, problem),
    actions.length ? h("div", { class: "dialog-foot row" }, actions) : null,
  );
  let result, resolve;
  const done = new Promise((r) => {
    resolve = r;
  });
  const close = (value) => {
    result = value;
    el.close();
  };
  // A press outside the dialog or one on Escape does not discard what was entered: it asks once; the second press closes.
  let entered = false;
  const keep = (e) => {
    if (entered) e.preventDefault();
  };
  const stay = () => {
    if (!entered || !warned.hidden) return false;
    warned.hidden = false;
    return true;
  };
  el.addEventListener("input", () => {
    entered = true;
    warned.hidden = true;
  });
  el.addEventListener("cancel", (e) => {
    if (e.target === el && stay()) e.preventDefault();
  });
  addEventListener("beforeunload", keep);
  el.addEventListener("close", () => {
    removeEventListener("beforeunload", keep);
    el.remove();
    resolve(result);
  });
  el.addEventListener("pointerdown", (e) => {
    if (e.target === el && !entered) close();
  }); // outside
  const fail = (e) => {
    problem.hidden = !e;
    fill(problem, e ? worded(e) : "");
    if (e) problem.scrollIntoView({ block: "nearest" });
    if (e && !e.text) throw e;
  };
  document.body.append(el);
  el.showModal();
  // Without a field the dialog itself has the focus: the press that opened it must not also press a button.
  (el.querySelector(".dialog-body select, .dialog-body input:not([type=radio]), .dialog-body textarea") || el).focus();
  if (near) {
    place(el, near);
    const grown = new ResizeObserver(() => place(el, near)); // a preview comes later
    grown.observe(el);
    el.addEventListener("close", () => grown.disconnect());
  }
  return { el, done, close, fail };
}

// place puts a dialog next to its element, inside the window. On a phone the stylesheet has it at the bottom instead.
function place(el, near) {
  if (matchMedia("(max-width: 700px)").matches) return;
  const r = near.getBoundingClientRect(),
    w = el.offsetWidth,
    height = el.offsetHeight;
  let left = r.right + 8;
  if (left + w > innerWidth - 8) left = r.left - w - 8;
  if (left < 8) left = Math.max(8, Math.min(innerWidth - w - 8, r.left));
  el.style.margin = "0";
  el.style.left = left + "px";
  el.style.top = Math.max(8, Math.min(innerHeight - height - 8, r.top)) + "px";
}

// confirm asks before something that cannot be undone. run does it; on an error the dialog stays open and shows it.
export async function confirm({ title, text, label, run }) {
  const yes = h("button", { type: "button", class: "danger", onclick: () => attempt() }, label);
  const d = dialog({
    title,
    body: h("p", {}, text),
    actions: [yes, h("button", { type: "button", onclick: () => d.close(false) }, "Cancel")],
  });
  async function attempt() {
    try {
      await working(yes, run);
      d.close(true);
    } catch (e) {
      d.fail(e);
    }
  }
  return (await d.done) === true;
}

// form asks for values; save does it with the form's fields by name. It resolves true when it was saved.
export async function form({ title, fields, label = "Save", save, wide, extra }) {
  const button = h("button", { class: "primary" }, label);
  const f = h(
    "form",
    {
      class: "stack",
      method: "dialog",
      onsubmit: async (e) => {
        e.preventDefault();
        try {
          d.fail(null);
          await working(button, () => save(f.elements, f));
          d.close(true);
        } catch (err) {
          d.fail(err);
        }
      },
    },
    fields,
    h("div", { class: "row" }, button, h("button", { type: "button", onclick: () => d.close() }, "Cancel"), extra),
  );
  const d = dialog({ title, body: f, wide });
  return (await d.done) === true;
}
