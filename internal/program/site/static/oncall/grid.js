// The grid of the calendar, drawn by the library EventCalendar. The library has no time zones: it gets and returns wall-clock times of
// the chosen zone. A drag is a difference of wall-clock times.
import { h } from "./dom.js";
import { avatar } from "./person.js";
import { isAway, letter, roleClass, unavailable } from "./roles.js";
import { hours, instant, iso, shift as shifted, span, time, wall } from "./zone.js";

const library = globalThis.EventCalendar;

const views = { month: "dayGridMonth", week: "timeGridWeek", people: "people", ahead: "ahead" };
const peopleWeeks = 2,
  aheadWeeks = 5;

const seconds = (d) => (d ? d.days * 86400 + d.seconds : 0); // undefined if the pointer left the grid at once

// grid draws into el. on: {range(start, end, title), pick(start, end, user, el), open(shift, el), move(shift, {start, end, user}), changeable(shift)}
export function grid(el, { zone, view, date, monday, editable, on }) {
  const now = () => Date.now() / 1000;
  const ranged = (start, end, user) => on.pick?.(instant(start, zone), instant(end, zone), user);
  const dropped = (info, startDelta, endDelta) => {
    const s = info.event.extendedProps.shift;
    info.revert(); // nothing changes before the dialog is saved
    if (!startDelta && !endDelta && !info.newResource) return;
    on.move(s, {
      start: instant(shifted(wall(s.start, zone), startDelta), zone),
      end: instant(shifted(wall(s.end, zone), endDelta), zone),
      user: info.newResource ? info.newResource.id : s.user,
    });
  };
  const calendar = library.create(el, {
    view: views[view] || views.month,
    date: wall(date || now(), zone).slice(0, 10),
    timeZone: iso(zone, now()),
    firstDay: monday || (view !== "week" && view !== "people") ? 1 : new Date(wall(now(), zone).slice(0, 10) + "T00:00:00Z").getUTCDay(), // else today
    headerToolbar: { start: "", center: "", end: "" },
    height: "auto",
    nowIndicator: true,
    dayMaxEvents: false,
    allDaySlot: false,
    slotEventOverlap: false,
    editable,
    selectable: editable,
    selectMinDistance: 5,
    longPressDelay: 400,
    pointer: false,
    eventStartEditable: editable,
    eventDurationEditable: editable,
    eventResizableFromStart: editable,
    slotLabelFormat: { hour: "2-digit", minute: "2-digit", ...hours },
    dayHeaderFormat: { weekday: "short", day: "numeric", month: "short" },
    scrollTime: "00:00",
    views: {
      dayGridMonth: { dayHeaderFormat: { weekday: "short" }, eventDurationEditable: false, eventResizableFromStart: false }, // whole days are too coarse to change an end
      timeGridWeek: {
        slotDuration: "01:00",
        snapDuration: "00:30",
        slotHeight: 22,
        columnWidth: el.clientWidth < 640 ? "5.7rem" : undefined, // phones scroll sideways
      },
      ahead: {
        type: "dayGridMonth",
        duration: { weeks: aheadWeeks },
        dayHeaderFormat: { weekday: "short" },
        dayCellFormat: { day: "numeric", month: "short" },
        titleFormat: { month: "long", year: "numeric" },
      },
      people: {
        type: "resourceTimelineWeek",
        duration: { weeks: peopleWeeks },
        slotDuration: "12:00",
        snapDuration: "01:00",
        slotWidth: slotWidth(el),
        dayHeaderFormat: { weekday: "short", day: "numeric" },
      },
    },
    datesSet: (info) => on.range(instant(info.startStr.slice(0, 19), zone), instant(info.endStr.slice(0, 19), zone), info.view.title),
    select: (info) => {
      ranged(info.startStr, info.endStr, info.resource?.id);
    },
    dateClick: (info) => {
      if (editable)
        ranged(info.dateStr, shifted(info.dateStr, info.allDay || info.view.type === "dayGridMonth" ? 86400 : 3600), info.resource?.id);
    },
    eventClick: (info) => on.open(info.event.extendedProps.shift, info.el),
    eventDrop: (info) => dropped(info, seconds(info.delta), seconds(info.delta)),
    eventResize: (info) => dropped(info, seconds(info.startDelta), seconds(info.endDelta)),
    eventContent: (info) => ({ domNodes: content(info.event.extendedProps, zone) }),
    resourceLabelContent: (info) => ({ domNodes: [h("bdi", {}, info.resource.title)] }),
  });
  // The library does not stop Enter, so the browser would also press the first button of the dialog that opens.
  const enter = (e) => {
    if (e.key === "Enter" && e.target.closest(".ec-event")) e.preventDefault();
  };
  el.addEventListener("keydown", enter, true);
  return {
    el,
    show(shifts, people, marks = []) {
      calendar.setOption(
        "resources",
        people.map((p) => ({ id: p.name, title: p.full_name || p.name })),
      );
      calendar.setOption(
        "events",
        [
          ...shifts.map((s, i) => entry(s, i, zone, editable && on.changeable(s))),
          ...marks.filter((m) => m.day || view === "people").map((m, i) => background(m, i, zone, view, people)),
        ],
      );
      requestAnimationFrame(() => {
        if (view === "people") calendar.setOption("slotWidth", slotWidth(el));
        plainRoles(el);
        requestAnimationFrame(() => seeToday(el));
      });
    },
    go(step) {
      if (step === 0) calendar.setOption("date", wall(now(), zone).slice(0, 10));
      else if (step < 0) calendar.prev();
      else calendar.next();
    },
    clear() {
      calendar.unselect();
    },
    destroy() {
      el.removeEventListener("keydown", enter, true);
      library.destroy(calendar);
    },
  };
}

// seeToday scrolls to today if the grid is wider than the window, as on phones. It scrolls once for each range.
function seeToday(el) {
  const today = el.querySelector(".ec-header .ec-today") || el.querySelector(".ec-today");
  if (!today || seen.get(el) === today.textContent) return;
  seen.set(el, today.textContent);
  for (let box = today.parentElement; box && el.contains(box); box = box.parentElement) {
    if (box.scrollWidth <= box.clientWidth || !/auto|scroll/.test(getComputedStyle(box).overflowX)) continue;
    box.scrollLeft += today.getBoundingClientRect().right - box.getBoundingClientRect().right + 8;
  }
}
const seen = new WeakMap();

// plainRoles removes the ARIA roles of a table, because the grid has no rows and its shifts are outside the cells. The label of a shift
// has its person and times. Screen readers can read the list view day by day.
function plainRoles(el) {
  for (const part of el.querySelectorAll("[role=table], [role=rowgroup], [role=row], [role=cell], [role=columnheader], [role=rowheader], [aria-colindex]")) {
    part.removeAttribute("role");
    part.removeAttribute("aria-colindex");
  }
}

// slotWidth returns the width of half a day, so that all days fit next to the names.
function slotWidth(el) {
  const names = el.querySelector(".ec-row-head")?.offsetWidth || 200;
  return Math.max(24, Math.floor((el.clientWidth - names - 4) / (peopleWeeks * 14)));
}

function entry(s, i, zone, changeable) {
  return {
    id: s.id ? String(s.id) : "new" + i,
    start: wall(s.start, zone),
    end: wall(s.end, zone),
    allDay: false,
    resourceIds: [s.user],
    editable: changeable,
    classNames: [
      roleClass(s.role),
      isAway(s.role) && "away",
      s.id === 0 && "planned",
      s.end < Date.now() / 1000 && "past",
      s.foreign && "foreign",
      s.conflict && "conflict",
    ].filter(Boolean),
    extendedProps: { shift: s },
  };
}

// background returns a mark as an event behind the shifts: a holiday of all people, or a time in which one is unavailable.
function background(m, i, zone, view, people) {
  return {
    id: "mark" + i,
    start: wall(m.start, zone),
    end: wall(m.end, zone),
    allDay: view !== "week" && view !== "people",
    display: "background",
    resourceIds: m.user ? [m.user] : people.map((p) => p.name),
    classNames: [m.day ? "holiday" : "absent"],
    extendedProps: { title: view !== "week" && m.title }, // a column of the week has no room for it
  };
}

function content({ shift: s, title }, zone) {
  if (!s) return title ? [h("span", { class: "mark-title", title, dir: "auto" }, title)] : []; // without a title it is the selection that is being drawn with the mouse
  return [
    h("span", { class: "swatch", "aria-hidden": "true" }, letter(s.role)),
    h("span", { class: "unseen" }, s.role + ": "),
    avatar(s.user),
    h("bdi", { class: "who" }, s.full_name || s.user),
    s.conflict && h("span", { class: "tag mark", title: unavailable }, "!", h("span", { class: "unseen" }, unavailable)),
    h("span", { class: "from" }, time(s.start, zone)),
    h("span", { class: "till" }, "– " + time(s.end, zone)),
    s.link_id && h("span", { class: "tag linked", title: "One of several linked shifts" }),
    s.note && h("span", { class: "tag", title: s.note }, "*"),
    h("span", { class: "unseen" }, span(s.start, s.end, zone)),
  ].filter(Boolean);
}
