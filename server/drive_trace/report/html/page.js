// What a report and the editor's views do beside being read: zoom a timeline, walk it by keys, filter
// and sort tables, and lead from place to place. The server has drawn everything.

/**
 * @typedef {(file: number, line: number, byKey: boolean) => void} Go shows a line, from 1, of a trace that the page does not list
 */

/**
 * Begins to listen; what is in `body` may be replaced later, and `refresh` has to follow.
 * @param {HTMLElement} root
 * @param {HTMLElement} body
 * @param {Go} [go]
 */
export function enhance(root, body, go) {
  root.classList.add("on");
  body.addEventListener("click", (event) => { clicked(event, go); });
  body.addEventListener("input", (event) => { filter(/** @type {HTMLElement} */ (event.target)); });
  body.addEventListener("keydown", pressed);
  body.addEventListener("wheel", turned, { passive: false });
  body.addEventListener("pointerdown", dragged);
  body.addEventListener("toggle", ({ target }) => { unfold(/** @type {Element} */ (target)); }, true);
  body.addEventListener("scroll", ({ target }) => { showMore(/** @type {Element} */ (target)); showDate(/** @type {Element} */ (target)); }, true);
  window.addEventListener("hashchange", arrive);
  refresh(body);
  body.querySelectorAll("details[open]").forEach(addButtons);
  arrive();
}

/**
 * Looks at what has been replaced.
 * @param {HTMLElement} body
 */
export function refresh(body) {
  places = new WeakMap(); // all stands where the server has drawn it
  for (const chart of body.querySelectorAll(".chart")) {
    const axis = chart.getAttribute("data-axis") ?? "";
    if (axis !== "") {
      useAxis(chart, axis);
    }
  }
  prepare(body);
  for (const head of body.querySelectorAll(".sortable thead th")) {
    if (head.firstElementChild === null) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
    }
    if (head.hasAttribute("aria-sort")) {
      sortRows(/** @type {HTMLTableCellElement} */ (head));
    }
  }
  for (const part of body.querySelectorAll(".filtered")) {
    if (manyRows.has(part) || part.querySelector("input")?.value) {
      filter(/** @type {HTMLElement} */ (part));
    }
  }
}

/** @type {WeakMap<Element, number>} how often each chart is wider than its room */
const zooms = new WeakMap();

/** @param {unknown} target */
function chartOf(target) {
  return target instanceof Element ? target.closest(".chart") : null;
}

/** @param {Element} chart @returns {HTMLElement} */
function roomOf(chart) {
  return /** @type {HTMLElement} */ (chart.querySelector(".scroll"));
}

/** @param {Element} chart @returns {SVGAElement[]} */
function linksOf(chart) {
  return [.../** @type {NodeListOf<SVGAElement>} */ (chart.querySelectorAll(".timeline a"))];
}

/** Prepares what is not folded: there may be thousands of links and lists in what is. @param {Element} part */
function prepare(part) {
  const isSeen = (/** @type {Element} */ each) => each.closest("details:not([open])") === null;
  for (const chart of [...part.querySelectorAll(".chart")].filter(isSeen)) {
    // The Tab key leads to one link of a chart.
    const links = linksOf(chart);
    const here = links.find((link) => link.matches('[tabindex="0"], :focus')) ?? links.find(isAlwaysSeen) ?? links[0];
    links.forEach((link) => { link.setAttribute("tabindex", link === here ? "0" : "-1"); });
  }
  for (const list of [...part.querySelectorAll(".filtered")].filter(isSeen)) {
    if (list.querySelector("select") === null) {
      const columns = document.createElement("select");
      columns.setAttribute("aria-label", `Column of ${list.querySelector("input")?.getAttribute("aria-label") ?? ""}`);
      const names = [...list.querySelectorAll("thead th")].map((head) => head.textContent ?? "");
      columns.append(new Option("any column", "-1"), ...names.map((name, index) => new Option(name, String(index))));
      list.querySelector("input")?.after(columns);
    }
  }
}

/** Whether something of a timeline is shown without zooming. @param {Element} each */
function isAlwaysSeen(each) {
  return each.closest("[class*=z]") === null;
}

/** Whether it is shown at the present zoom. @param {Element} each */
function isDrawn(each) {
  return each.getBoundingClientRect().width > 0;
}

/** What the Tab key leads to. @param {Element} chart @param {Element} link */
function aim(chart, link) {
  chart.querySelector('a[tabindex="0"]')?.setAttribute("tabindex", "-1");
  link.setAttribute("tabindex", "0");
}

/**
 * Zooms so that what is at `share` of the drawing stands `at` pixels from the left.
 * @param {Element} chart @param {number} zoom @param {number} share @param {number} at
 */
function zoomTo(chart, zoom, share, at) {
  const most = 2 ** Number(chart.getAttribute("data-levels"));
  const next = Math.min(Math.max(zoom, 1), most);
  const drawing = /** @type {SVGElement} */ (chart.querySelector(".timeline"));
  const room = roomOf(chart);
  zooms.set(chart, next);
  drawing.style.width = next === 1 ? "" : `calc(max(100%, 40rem) * ${next})`;
  const level = Math.floor(Math.log2(next));
  drawing.setAttribute("data-z", Array.from({ length: level }, (_, index) => index + 1).join(" "));
  if (next > 1) {
    room.scrollLeft = share * room.scrollWidth - at;
  }
  showDate(room);
  const aimed = chart.querySelector('a[tabindex="0"]');
  if (aimed !== null && !isDrawn(aimed)) {
    aim(chart, linksOf(chart).find(isDrawn) ?? aimed);
  }
}

/** Keeps the date of what is in view in view, as far as the next one lets it. @param {Element} room */
function showDate(room) {
  const days = [.../** @type {NodeListOf<SVGTextElement>} */ (room.querySelectorAll?.(".timeline > .day") ?? [])].filter(isDrawn);
  const boxes = days.map((each) => each.getBBox());
  days.forEach((each, index) => {
    const { x = 0, width = 0 } = boxes[index] ?? {};
    const shift = Math.min(room.scrollLeft - x, (boxes[index + 1]?.x ?? Infinity) - x - width - 8);
    each.style.transform = shift > 0 ? `translateX(${shift}px)` : "";
  });
}

/** Zooms until a cluster is what it stands for. @param {Element} chart @param {Element} cluster */
function open(chart, cluster) {
  const room = roomOf(chart);
  const { left, width } = cluster.getBoundingClientRect();
  const edge = room.getBoundingClientRect().left;
  const factor = Math.max((0.8 * room.clientWidth) / width, 2);
  zoomTo(chart, (zooms.get(chart) ?? 1) * factor, (room.scrollLeft + left - edge) / room.scrollWidth, 0.1 * room.clientWidth);
  const first = linksOf(chart).find((link) => link.closest(".bars") && isDrawn(link) && link.getBoundingClientRect().left >= edge);
  if (first !== undefined) {
    aim(chart, first);
    first.focus({ preventScroll: true });
  }
}

/** Zooms until something of a timeline is shown. @param {Element} target */
function reveal(target) {
  const chart = chartOf(target);
  if (chart !== null && !isDrawn(target)) {
    let level = 0;
    for (let each = /** @type {Element | null} */ (target); each !== null && each !== chart; each = each.parentElement) {
      level = Math.max(level, Number(/\bz(\d)/.exec(each.getAttribute("class") ?? "")?.[1] ?? 0));
    }
    zoomTo(chart, 2 ** level, 0, 0);
  }
}

/** @param {Element} chart @param {number} factor @param {number} at pixels from the left of what is in view */
function zoomBy(chart, factor, at) {
  const room = roomOf(chart);
  const share = (room.scrollLeft + at) / room.scrollWidth;
  zoomTo(chart, factor === 0 ? 1 : (zooms.get(chart) ?? 1) * factor, share, at);
}

/** @param {WheelEvent} event */
function turned(event) {
  const chart = chartOf(event.target);
  if (chart !== null && event.ctrlKey) {
    event.preventDefault();
    const turn = Math.min(Math.max(event.deltaY * (event.deltaMode === 0 ? 1 : 20), -100), 100);
    zoomBy(chart, 2 ** (-turn / 100), event.clientX - roomOf(chart).getBoundingClientRect().left);
  }
}

/** @type {WeakMap<Element, readonly [number, number]>} where each shape stands, and how wide it is, in shares of the axis as it was drawn */
let places = new WeakMap();

/** The shapes of a timeline that stand at a place in time. @param {Element} chart */
function shapesOf(chart) {
  const shapes = [.../** @type {NodeListOf<SVGElement>} */ (chart.querySelectorAll(".timeline > *, .timeline > g > a > *, .timeline .bars g > a > *, .timeline .bars g > rect"))];
  return shapes.filter((each) => (each.getAttribute("x") ?? each.getAttribute("x1") ?? "").endsWith("%")).map((each) => {
    const found = places.get(each) ?? [each.getAttribute("x") ?? each.getAttribute("x1"), each.getAttribute("width")].map((at) => Number.parseFloat(at ?? "0") / 100);
    const place = /** @type {readonly [number, number]} */ (found);
    places.set(each, place);
    return { each, place };
  });
}

const axes = {
  clock: "Clock time: idle time is not folded.",
  log: "Log scale: a bar that is twice as long did not take twice the time.",
};

/** Draws a timeline along another axis: "clock", "log", or as the server has drawn it. @param {Element} chart @param {string} kind */
function useAxis(chart, kind) {
  const shapes = shapesOf(chart);
  const scale = Number(chart.getAttribute("data-scale"));
  const folds = (chart.getAttribute("data-folds") ?? "").split(" ").filter((fold) => fold !== "").map((fold) => fold.split(",").map(Number));
  const bars = shapes.filter(({ each }) => each.closest(".bars") !== null).flatMap(({ place: [x, width] }) => [x, x + width]);
  const edges = [...new Set([0, 1, ...folds.flatMap(([left = 0, right = 0]) => [left, right]), ...(kind === "log" ? bars : [])])].sort((one, other) => one - other);
  const isFold = (/** @type {number} */ left) => folds.find((fold) => fold[0] === left);
  const steps = edges.slice(1).map((right, index) => {
    const left = edges[index] ?? 0;
    if (kind === "log") {
      return Math.log2(1 + (right - left) * 2000);
    }
    return kind === "clock" ? isFold(left)?.[2] ?? (right - left) / scale : right - left;
  });
  const whole = steps.reduce((sum, step) => sum + step, 0);
  const ends = [0];
  steps.forEach((step) => { ends.push((ends.at(-1) ?? 0) + step / whole); });
  const at = (/** @type {number} */ place) => {
    let low = 0;
    for (let high = edges.length - 1; high - low > 1;) {
      const middle = (low + high) >> 1;
      [low, high] = (edges[middle] ?? 0) <= place ? [middle, high] : [low, middle];
    }
    const [left = 0, right = 1, from = 0, to = 1] = [edges[low], edges[low + 1], ends[low], ends[low + 1]];
    return from + ((place - left) / (right - left)) * (to - from);
  };
  for (const { each, place: [x, width] } of shapes) {
    const [left, right] = kind === "" ? [x, x + width] : [at(x), at(x + width)];
    for (const name of ["x", "x1", "x2"].filter((name) => each.hasAttribute(name))) {
      each.setAttribute(name, `${100 * left}%`);
    }
    if (width > 0) {
      each.setAttribute("width", `${100 * (right - left)}%`);
    }
  }
  chart.setAttribute("data-axis", kind);
  chart.querySelectorAll("button[data-axis]").forEach((button) => { button.setAttribute("aria-pressed", String(button.getAttribute("data-axis") === kind)); });
  say(chart, axes[/** @type {keyof typeof axes} */ (kind)] ?? "");
}

/** @param {Element} chart @param {string} words */
function say(chart, words) {
  const output = chart.querySelector("output");
  if (output !== null) {
    output.textContent = words;
  }
}

/** Sums what stands between two places of a timeline, as it is drawn now. @param {Element} chart @param {number} from @param {number} to */
function sum(chart, from, to) {
  const scale = Number(chart.getAttribute("data-scale"));
  let [dispatches, rounds, worked] = [0, 0, 0];
  for (const { each, place: [, length] } of shapesOf(chart)) {
    const [x = 0, width = 0] = ["x", "width"].map((name) => Number.parseFloat(each.getAttribute(name) ?? "0") / 100);
    const share = Math.min(x + width, to) - Math.max(x, from);
    if (share >= 0 && each.closest(".bars") !== null && each.closest(".cluster") === null) {
      const isWork = each.hasAttribute("data-works");
      dispatches += each.localName === "svg" ? 1 : 0;
      rounds += isWork && each.localName === "rect" ? 1 : 0;
      worked += isWork && width > 0 ? (share / width) * length / scale : 0;
    }
  }
  const minutes = Math.round(worked / 60_000);
  say(chart, `Selected: ${dispatches} dispatches, ${rounds} rounds, ${Math.floor(minutes / 60)}h ${minutes % 60}m of work.`);
}

let wasDragged = false;

/** @param {PointerEvent} event */
function dragged(event) {
  const chart = chartOf(event.target);
  wasDragged = false;
  if (chart === null || event.button !== 0 || event.pointerType === "touch") {
    return;
  }
  const target = /** @type {Element} */ (event.target);
  if (target.closest(".timeline") !== null) {
    // The keys that follow are the chart's. As the press selects no text, it gives no focus either.
    const link = /** @type {SVGAElement | null} */ (target.closest("a") ?? chart.querySelector('.timeline a[tabindex="0"]'));
    link?.focus({ preventScroll: true });
    select(chart, event);
  }
}

/** @param {Element} chart @param {PointerEvent} begin */
function select(chart, begin) {
  const room = roomOf(chart);
  const offset = room.scrollLeft - room.getBoundingClientRect().left;
  const range = document.createElement("div");
  range.className = "range";
  const ends = (/** @type {PointerEvent} */ now) => [begin.clientX + offset, now.clientX + offset].sort((one, other) => one - other);
  follow(begin, (now) => {
    const [from = 0, to = 0] = ends(now);
    wasDragged ||= to - from > 8;
    range.style.left = `${from}px`;
    range.style.width = `${to - from}px`;
    if (wasDragged) {
      room.append(range);
    }
  }, (now) => {
    const [from = 0, to = 0] = ends(now);
    range.remove();
    if (wasDragged) {
      const drawing = /** @type {Element} */ (chart.querySelector(".timeline"));
      const { left, width } = drawing.getBoundingClientRect();
      const { paddingLeft, paddingRight } = getComputedStyle(drawing);
      const inner = width - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      const start = left + Number.parseFloat(paddingLeft) + offset;
      sum(chart, (from - start) / inner, (to - start) / inner);
      const factor = room.clientWidth / Math.max(to - from, 1);
      zoomTo(chart, (zooms.get(chart) ?? 1) * factor, from / room.scrollWidth, 0);
    }
  });
  begin.preventDefault();
}

/**
 * @param {PointerEvent} begin
 * @param {(event: PointerEvent) => void} move
 * @param {(event: PointerEvent) => void} end
 */
function follow(begin, move, end) {
  const over = new AbortController();
  const { signal } = over;
  window.addEventListener("pointermove", move, { signal });
  window.addEventListener("pointerup", (event) => { over.abort(); end(event); }, { signal });
  window.addEventListener("pointercancel", () => { over.abort(); end(begin); }, { signal });
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const chart = chartOf(event.target);
  if (chart === null || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  /** @type {Record<string, number>} */
  const factors = { "+": 2, "=": 2, "-": 0.5, "0": 0 };
  const factor = factors[event.key];
  const link = /** @type {Element} */ (event.target).closest("a");
  if (factor !== undefined) {
    event.preventDefault();
    const room = roomOf(chart).getBoundingClientRect();
    const place = link?.getBoundingClientRect();
    zoomBy(chart, factor, place ? place.left - room.left : room.width / 2);
  } else if (link !== null) {
    const next = neighbour(linksOf(chart), /** @type {SVGAElement} */ (/** @type {unknown} */ (link)), event.key);
    if (next !== undefined) {
      event.preventDefault();
      aim(chart, next);
      next.focus();
      next.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
}

/**
 * The bar or mark that an arrow leads to: the next in time in its row, or the nearest in the next row.
 * @param {SVGAElement[]} links @param {SVGAElement} from @param {string} key
 */
function neighbour(links, from, key) {
  const middle = (/** @type {DOMRect} */ box) => box.top + box.height / 2;
  const here = from.getBoundingClientRect();
  const seen = links.filter(isDrawn).map((link) => ({ link, box: link.getBoundingClientRect() }));
  // Where each dispatch has a lane, those of all lanes are one row, and so are their rounds.
  const kindOf = (/** @type {Element} */ link) => link.closest(".bars") === null ? "mark" : link.lastElementChild?.localName;
  const hasLanes = from.closest(".chart")?.querySelector(".names") !== null && kindOf(from) !== "mark";
  const isBeside = (/** @type {Element} */ link, /** @type {DOMRect} */ box) =>
    hasLanes ? kindOf(link) === kindOf(from) : Math.abs(middle(box) - middle(here)) < 7;
  // What stands for bars that are too narrow is drawn before them.
  const row = seen.filter(({ link, box }) => isBeside(link, box)).sort((one, other) => one.box.left - other.box.left);
  const at = row.findIndex(({ link }) => link === from);
  if (key === "ArrowRight" || key === "ArrowLeft") {
    return row[at + (key === "ArrowRight" ? 1 : -1)]?.link;
  }
  if (key === "Home" || key === "End") {
    return row.at(key === "Home" ? 0 : -1)?.link;
  }
  if (key !== "ArrowDown" && key !== "ArrowUp") {
    return undefined;
  }
  const sign = key === "ArrowDown" ? 1 : -1;
  const distance = (/** @type {DOMRect} */ box) =>
    1000 * Math.round((sign * (middle(box) - middle(here))) / 7) + Math.abs(box.left - here.left) / 100;
  const beyond = seen.filter(({ box }) => sign * (middle(box) - middle(here)) >= 7);
  return beyond.sort((one, other) => distance(one.box) - distance(other.box))[0]?.link;
}

/** @param {MouseEvent} event @param {Go} [go] */
function clicked(event, go) {
  const target = /** @type {Element} */ (event.target);
  const link = target.closest('a[href^="#l-"]');
  const button = target.closest("button");
  const head = /** @type {HTMLTableCellElement | null} */ (target.closest(".sortable thead th"));
  if (link !== null) {
    const [, file, line] = (link.getAttribute("href") ?? "").split("-").map(Number);
    if (wasDragged || (go !== undefined && file !== undefined && line !== undefined)) {
      event.preventDefault();
    }
    const chart = link.matches(".cluster") ? chartOf(link) : null;
    if (chart !== null && !wasDragged) {
      event.preventDefault();
      open(chart, link);
    } else if (!wasDragged) {
      // The Enter key makes a click with no button pressed.
      go?.(file ?? 0, line ?? 0, event.detail === 0);
    }
  } else if (button?.dataset.zoom !== undefined) {
    const chart = chartOf(button);
    if (chart !== null) {
      zoomBy(chart, Number(button.dataset.zoom), roomOf(chart).clientWidth / 2);
    }
  } else if (button?.dataset.axis !== undefined) {
    const chart = chartOf(button);
    if (chart !== null) {
      useAxis(chart, chart.getAttribute("data-axis") === button.dataset.axis ? "" : button.dataset.axis);
    }
  } else if (head !== null) {
    sort(head);
  } else if (button?.closest(".events")) {
    void showRaw(/** @type {HTMLTableRowElement} */ (button.closest("tr")));
  }
}

/** Unfolds what a link leads to, and gives it the focus. */
function arrive() {
  const id = location.hash.slice(1);
  const event = /^e-\w+$/.test(id) ? document.querySelector(`tr[data-e="${id}"]`) : null;
  const target = document.getElementById(id) ?? /** @type {HTMLElement | null} */ (event);
  if (target === null) {
    return;
  }
  // An address that is the same in every report, where the event has an id of its own.
  const same = target.getAttribute("data-e");
  if (same !== null && document.querySelectorAll(`[data-e="${same}"]`).length === 1) {
    history.replaceState(null, "", `#${same}`);
  }
  for (let each = /** @type {Element | null} */ (target); each !== null; each = each.parentElement) {
    if (each instanceof HTMLDetailsElement) {
      each.open = true;
    }
    if (each instanceof HTMLElement) {
      each.hidden = false;
    }
  }
  reveal(target);
  const summary = target.localName === "details" ? target.querySelector("summary") : null;
  if (target.localName === "tr") {
    target.tabIndex = -1;
  }
  (summary ?? target).focus({ preventScroll: true });
  target.scrollIntoView({ block: target.localName === "tr" ? "center" : "nearest", inline: "center" });
}

/** @param {HTMLElement} changed */
function filter(changed) {
  const part = changed.closest(".filtered");
  const box = part?.querySelector("input") ?? null;
  if (part === null || box === null) {
    return;
  }
  if (part.matches(".many")) {
    void showMany(part);
    return;
  }
  const { column, tests } = soughtIn(part);
  let count = 0;
  let all = 0;
  for (const body of part.querySelectorAll("tbody")) {
    let shown = 0;
    for (const row of body.rows) {
      const text = textOf(row, column);
      row.hidden = !tests.every((test) => test(text));
      shown += row.hidden ? 0 : 1;
    }
    body.hidden = shown === 0;
    body.style.setProperty("--rows", String(shown));
    count += shown;
    all += body.rows.length;
  }
  tell(part, tests.length === 0 ? "" : `${count} of ${all}`);
}

/** @param {Element} part @param {string} found */
function tell(part, found) {
  const [output, { figure }] = [part.querySelector("output"), soughtIn(part)];
  if (output !== null) {
    output.textContent = figure === undefined ? found : `Choose a column: ${figure} looks at the figures of one.`;
  }
}

/** @param {Element} part */
function soughtIn(part) {
  const words = (part.querySelector("input")?.value ?? "").split(/\s+/).filter((word) => word !== "");
  const column = Number(part.querySelector("select")?.value ?? -1);
  const figure = column < 0 ? words.find((word) => figureTest.test(word)) : undefined; // of which no column is said
  return { column, figure, tests: figure === undefined ? words.map(testOf) : [() => false] };
}

/** A row that is markup until it is shown, and what its cells say. @typedef {{ markup: string, cells?: string[] }} PackedRow */

/** The rows of tables of which only those in view are elements: all, and what is left of those that are shown. @type {WeakMap<Element, { all: Promise<PackedRow[]>, value: string | null, left: PackedRow[] }>} */
const manyRows = new WeakMap();
const atOnce = 300;

/** Finds and sorts the rows of a table of many, and shows the first. @param {Element} part */
async function showMany(part) {
  const data = part.querySelector("data");
  const value = data?.getAttribute("value") ?? null;
  let known = manyRows.get(part);
  if (known?.value !== value) {
    known = { all: unpacked(data).then((rows) => rows.map((markup) => ({ markup }))), value, left: [] };
    manyRows.set(part, known);
  }
  const all = await /** @type {NonNullable<typeof known>} */ (known).all;
  const { column, tests } = soughtIn(part);
  const found = tests.length === 0 ? [...all] : all.filter((row) => {
    row.cells ??= cellsOf(row.markup).map(saidIn);
    const text = column < 0 ? row.cells.join("\n") : row.cells[column] ?? "";
    return tests.every((test) => test(text));
  });
  const head = /** @type {HTMLTableCellElement | null} */ (part.querySelector("th[aria-sort]"));
  if (head !== null) {
    sortBy(found, head.getAttribute("aria-sort") === "ascending", ({ markup }) => {
      const cell = cellsOf(markup)[head.cellIndex] ?? "";
      const order = /data-v="([^"]*)"/.exec(cell)?.[1];
      return order === undefined ? saidIn(cell) : Number(order);
    });
  }
  tell(part, tests.length === 0 ? "" : `${found.length} of ${all.length}`);
  part.querySelector("tbody")?.replaceChildren();
  /** @type {NonNullable<typeof known>} */ (known).left = found;
  showNext(part);
}

/** Shows more rows of a table of many, where its end is near. @param {Element} room */
function showMore(room) {
  const part = room.closest?.(".many") ?? null;
  if (part !== null && room.scrollTop + 2 * room.clientHeight > room.scrollHeight) {
    if (manyRows.has(part)) {
      showNext(part);
    } else {
      void showMany(part);
    }
  }
}

/** @param {Element} part */
function showNext(part) {
  // The server has escaped whatever comes from a trace, and the page's policy runs nothing.
  const next = manyRows.get(part)?.left.splice(0, atOnce) ?? [];
  part.querySelector("tbody")?.insertAdjacentHTML("beforeend", next.map(({ markup }) => markup).join(""));
}

/** @param {string} markup */
function cellsOf(markup) {
  return markup.split(/<t[hd]\b/).slice(1);
}

/** What the markup of a cell says. @param {string} cell */
function saidIn(cell) {
  /** @type {Record<string, string>} */
  const signs = { lt: "<", gt: ">", quot: '"', "#x27": "'", amp: "&" };
  const text = cell.slice(cell.indexOf(">") + 1).replace(/<[^>]*>/g, "");
  return text.replace(/&(lt|gt|quot|#x27|amp);/g, (_, sign) => signs[sign] ?? "").trim();
}

const figureTest = /^([<>])(\d+(?:\.\d+)?)$/;

/**
 * What a word asks of a text: `>2` and `<2` that its figure is so, any other that a word of it begins so. Capitals
 * in it are meant.
 * @param {string} word @returns {(text: string) => boolean}
 */
function testOf(word) {
  const [, sign, limit] = figureTest.exec(word) ?? [];
  if (sign !== undefined) {
    const factor = sign === ">" ? 1 : -1;
    return (text) => factor * (Number.parseFloat(text.replaceAll(",", "")) - Number(limit)) > 0;
  }
  const isAnyCase = word === word.toLowerCase();
  return (text) => {
    const where = isAnyCase ? text.toLowerCase() : text;
    for (let at = where.indexOf(word); at >= 0; at = where.indexOf(word, at + 1)) {
      if (at === 0 || !/[\p{L}\p{N}]/u.test(where[at - 1] ?? "")) {
        return true;
      }
    }
    return false;
  };
}

/** @type {WeakMap<Element, string>} */
const texts = new WeakMap();

/** What a column of a row says, or all: each cell ends a line. @param {HTMLTableRowElement} row @param {number} column */
function textOf(row, column) {
  const known = column < 0 ? texts.get(row) ?? row.textContent : row.cells[column]?.textContent ?? "";
  if (column < 0) {
    texts.set(row, known);
  }
  return known;
}

/** @param {HTMLTableCellElement} head */
function sort(head) {
  const table = /** @type {HTMLTableElement} */ (head.closest("table"));
  const isRising = head.getAttribute("aria-sort") !== "ascending";
  table.querySelectorAll("th[aria-sort]").forEach((each) => { each.removeAttribute("aria-sort"); });
  head.setAttribute("aria-sort", isRising ? "ascending" : "descending");
  sortRows(head);
}

/** @param {HTMLTableCellElement} head */
function sortRows(head) {
  const table = /** @type {HTMLTableElement} */ (head.closest("table"));
  const many = table.closest(".many");
  if (many !== null) {
    void showMany(many);
    return;
  }
  const body = /** @type {HTMLTableSectionElement} */ (table.tBodies[0]);
  const isRising = head.getAttribute("aria-sort") === "ascending";
  body.append(...sortBy([...body.rows], isRising, (row) => keyOf(row.cells[head.cellIndex])));
}

/** What is not known, as NaN or nothing, stands last either way. @template T @param {T[]} rows @param {boolean} isRising @param {(row: T) => string | number} key */
function sortBy(rows, isRising, key) {
  const order = new Intl.Collator(undefined, { numeric: true });
  const keys = new Map(rows.map((row) => [row, key(row)]));
  rows.sort((first, second) => {
    const [one, other] = [keys.get(first), keys.get(second)];
    const lack = Number(isUnknown(one)) - Number(isUnknown(other));
    const by = typeof one === "number" && typeof other === "number" ? one - other : order.compare(String(one), String(other));
    return lack || (isRising ? by : -by);
  });
  return rows;
}

/** @param {unknown} key */
function isUnknown(key) {
  return key === "" || Number.isNaN(key);
}

/** @param {HTMLTableCellElement | undefined} cell */
function keyOf(cell) {
  const value = cell?.querySelector("[data-v]")?.getAttribute("data-v");
  return value == null ? cell?.textContent ?? "" : Number(value);
}

/** @param {Element} part */
function unfold(part) {
  prepare(part);
  addButtons(part);
}

/** Makes the numbers of lines in lists of events show the lines as they are. @param {Element} part */
function addButtons(part) {
  for (const cell of part.querySelectorAll(".events tbody td:last-child")) {
    if (cell.firstElementChild === null) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = (cell.textContent ?? "").trim();
      button.setAttribute("aria-label", `Line ${button.textContent} as it stands in the trace`);
      button.setAttribute("aria-expanded", "false");
      cell.replaceChildren(button);
    }
  }
}

/** What the server has packed. @param {Element | null} data */
async function unpacked(data) {
  const bytes = Uint8Array.from(atob(data?.getAttribute("value") ?? ""), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).text()).split("\n");
}

/** @type {Promise<Map<string, string>> | undefined} */
let raw;

/** The lines as they stand in the traces, by the ids of their rows. */
async function rawLines() {
  const lines = await unpacked(document.getElementById("raw"));
  const rows = [...document.querySelectorAll(".events tbody tr[id]")];
  return new Map(rows.map((row, index) => [row.id, lines[index] ?? ""]));
}

/** @param {HTMLTableRowElement} row */
async function showRaw(row) {
  const cell = /** @type {HTMLTableCellElement} */ (row.cells[2]);
  const shown = cell.querySelector("pre");
  row.querySelector("button")?.setAttribute("aria-expanded", String(shown === null));
  if (shown !== null) {
    shown.nextElementSibling?.remove();
    shown.remove();
    return;
  }
  raw ??= rawLines();
  const line = document.createElement("pre");
  line.textContent = (await raw).get(row.id) ?? "";
  cell.append(line);
  const [, file = 0, number = 0] = row.id.split("-").map(Number);
  const address = document.getElementById("raw")?.getAttribute("data-files")?.split(" ")[file] ?? "";
  if (address !== "") {
    const link = document.createElement("a");
    link.href = `${address}:${number}`;
    link.textContent = "open in VS Code";
    line.after(link);
  }
}
