// Lists whose order people change by dragging or with buttons. Items have data-key. Buttons inside them have data-move: -1 for up and
// 1 for down.

const keys = (list) => [...list.children].map((li) => li.dataset.key);

// sortable calls save with the new order of keys after a change.
export function sortable(list, save) {
  let held = null,
    before = "";
  const done = () => {
    if (!held) return;
    held.classList.remove("held");
    held = null;
    if (keys(list).join("\n") !== before) save(keys(list));
  };
  list.addEventListener("pointerdown", (e) => {
    const grip = e.target.closest(".grip");
    if (!grip || e.button > 0) return;
    e.preventDefault();
    held = grip.closest("[data-key]");
    before = keys(list).join("\n");
    held.classList.add("held");
    list.setPointerCapture(e.pointerId);
  });
  list.addEventListener("pointermove", (e) => {
    if (!held) return;
    const over = [...list.children].find(
      (li) => li !== held && e.clientY >= li.getBoundingClientRect().top && e.clientY <= li.getBoundingClientRect().bottom,
    );
    if (!over) return;
    const r = over.getBoundingClientRect(),
      below = e.clientY > r.top + r.height / 2;
    const target = below ? over.nextElementSibling : over;
    if (target !== held) list.insertBefore(held, target);
  });
  list.addEventListener("pointerup", done);
  list.addEventListener("pointercancel", done);
  list.addEventListener("click", (e) => {
    const step = Number(e.target.closest("[data-move]")?.dataset.move);
    const li = e.target.closest("[data-key]");
    const other = step < 0 ? li?.previousElementSibling : li?.nextElementSibling;
    if (!step || !other) return;
    if (step < 0) list.insertBefore(li, other);
    else list.insertBefore(other, li);
    e.target.focus();
    save(keys(list));
  });
}
