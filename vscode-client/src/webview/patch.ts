/**
 * Makes the content of a node that of another one, and leaves alone whatever says the same: with it
 * stay focus, selection, what is unfolded, and the place of a screen reader. `made` is used up.
 */
export function patch(old: Element, made: ParentNode): void {
  const wanted = keysOf(made);
  const there = keysOf(old);
  let next = old.firstChild;
  for (const node of [...made.childNodes]) {
    const key = keyOf(node);
    const known = key === undefined ? alike(next, node) : there.get(key);
    there.delete(key ?? "");
    if (known === undefined || !isSameKind(known, node)) {
      old.insertBefore(node, next);
      continue;
    }
    // Whatever is moved loses the focus: rather those in between go.
    next = removeUpTo(known, next, wanted);
    if (known === next) {
      next = next.nextSibling;
    } else {
      old.insertBefore(known, next);
    }
    patchNode(known, node);
  }
  while (next !== null) {
    next = removed(next);
  }
}

/** So many siblings are looked through for one that says the same. */
const reach = 8;

/** What becomes a node that has no key: one further on where it says the same, else the next. */
function alike(next: ChildNode | null, node: Node): ChildNode | undefined {
  if (node instanceof Element) {
    let other = next;
    for (let count = 0; other !== null && count < reach; count += 1) {
      if (other.isEqualNode(node)) {
        return other;
      }
      other = other.nextSibling;
    }
  }
  return next ?? undefined;
}

/** Removes what stands before a node, but for what is known by a key that is still wanted. */
function removeUpTo(known: Node, first: ChildNode | null, wanted: ReadonlyMap<string, Node>): ChildNode | null {
  let next = first;
  while (next !== null && next !== known) {
    const key = keyOf(next);
    if (key !== undefined && wanted.has(key)) {
      return next;
    }
    next = removed(next);
  }
  return next;
}

/** A summary without its count, which changes as the run goes on. */
export function nameOf(details: Element): string {
  const summary = details.querySelector("summary")?.textContent ?? "";
  return summary.replace(/ \([\d,]+\)$/, "");
}

/** What a node is known by among its siblings, wherever it stands. */
function keyOf(node: Node): string | undefined {
  if (!(node instanceof Element)) {
    return undefined;
  }
  const name = node.id === "" ? node.getAttribute("aria-labelledby") : node.id;
  if (name !== null) {
    return `#${name}`;
  }
  return node.localName === "details" ? nameOf(node) : undefined;
}

function keysOf(parent: ParentNode): Map<string, Element> {
  const found = new Map<string, Element>();
  for (const child of parent.children) {
    const key = keyOf(child);
    if (key !== undefined && !found.has(key)) {
      found.set(key, child);
    }
  }
  return found;
}

function isSameKind(one: Node, other: Node): boolean {
  return one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
}

function removed(node: ChildNode): ChildNode | null {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function patchNode(old: Node, made: Node): void {
  if (old.isEqualNode(made)) {
    return;
  }
  if (old instanceof Element && made instanceof Element) {
    patchAttributes(old, made);
    patch(old, made);
  } else {
    old.nodeValue = made.nodeValue;
  }
}

/** What a person has changed: folds, zoom, axis, order, and what the Tab key leads to. */
const own = new Set(["open", "style", "tabindex", "data-z", "data-axis", "aria-pressed", "aria-sort"]);

/** All but what a person has changed. */
function patchAttributes(old: Element, made: Element): void {
  for (const { name } of [...old.attributes]) {
    if (!own.has(name) && !made.hasAttribute(name)) {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of made.attributes) {
    if (!own.has(name) && old.getAttribute(name) !== value) {
      old.setAttribute(name, value);
    }
  }
}
