/** An element with some properties and content, of which no text is read as markup. */
export function made<K extends keyof HTMLElementTagNameMap>(
  name: K, properties: Partial<HTMLElementTagNameMap[K]>, ...content: readonly (string | Node)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}
