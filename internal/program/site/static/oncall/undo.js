// After an edit of the calendar a bar offers to undo it for 30 seconds. The server refuses the undo if a shift was changed since.
import { announce, bdi, h, working } from "./dom.js";
import { v1 } from "./api.js";

const offered = 30000; // milliseconds
let bar, timer, reload;

// onUndo names the function that reads the page again after an undo.
export function onUndo(run) {
  reload = run;
}

const who = (s) => bdi(s.full_name || s.user);
const every = (list) => (list.length === 1 ? "the shift" : `${list.length} shifts`);

// told returns what an edit did.
function told(action, { added, removed, changed }) {
  const first = changed[0];
  if (action === "take") return ["You took the pager."];
  if (action.startsWith("delete")) return [`Deleted ${every(removed)} of `, who(removed[0]), "."];
  if (action.startsWith("swap")) return ["Swapped the shifts."];
  if (action === "override" && added.length) return [who(added[0]), " takes over."];
  if (first && first.before.user !== first.after.user) return [`Gave ${every(changed)} of `, who(first.before), " to ", who(first.after), "."];
  if (first && first.before.start !== first.after.start && first.before.end !== first.after.end) return ["Moved the shift of ", who(first.after), "."];
  if (first) return [`Changed ${every(changed)} of `, who(first.after), "."];
  return added.length ? [`Added ${every(added)} of `, who(added[0]), "."] : ["The calendar was changed."];
}

// offerUndo shows the bar. changes is the answer to the edit.
export function offerUndo(action, changes) {
  if (!changes.added.length && !changes.removed.length && !changes.changed.length) return;
  close();
  const text = h("span", {}, told(action, changes));
  const button = h("button", { type: "button", onclick: () => undo() }, "Undo");
  async function undo() {
    try {
      await working(button, () => v1.post("/events/edit", { ...changes, action: "undo" }));
      close();
      await reload?.();
      announce("Undone");
    } catch (e) {
      text.textContent = e.text || String(e);
      button.remove();
    }
  }
  bar = h("div", { class: "undo-bar", role: "status" }, text, button, h("button", { type: "button", class: "link", "aria-label": "Dismiss", onclick: close }, "×"));
  bar.undo = undo;
  document.querySelector("main").append(bar);
  timer = setTimeout(close, offered);
}

function close() {
  clearTimeout(timer);
  bar?.remove();
  bar = undefined;
}

document.addEventListener("keydown", (e) => {
  if (!bar || e.key.toLowerCase() !== "z" || !(e.ctrlKey || e.metaKey) || e.shiftKey) return;
  if (e.target.closest("input, textarea, select, dialog")) return; // there it undoes typing
  e.preventDefault();
  bar.undo();
});
