// Dialogs, made with the browser's <dialog>: it keeps the focus inside, closes on Escape, and returns the focus.
import { fill, h, problem as worded, working } from "./dom.js";

// dialog opens a dialog and returns it. done resolves to the argument of close, or to undefined if the reader dismissed the dialog.
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
  // The first press on Escape or outside the dialog warns if something was entered. The second press closes the dialog.
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
  // Without a field the dialog itself gets the focus, so that the key press that opened the dialog does not press a button too.
  (el.querySelector(".dialog-body select, .dialog-body input:not([type=radio]), .dialog-body textarea") || el).focus();
  if (near) {
    place(el, near);
    const grown = new ResizeObserver(() => place(el, near)); // a preview makes the dialog taller later
    grown.observe(el);
    el.addEventListener("close", () => grown.disconnect());
  }
  return { el, done, close, fail };
}

// place moves a dialog next to its element and inside the window. On phones the stylesheet puts dialogs at the bottom.
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

// confirm asks before an action that cannot be undone. run carries it out. If run fails, the dialog stays open and shows the error.
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

// form asks for values. save gets the elements of the form by name. form resolves to true if the values were saved.
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
