import { element } from "./host";

const least = 60;

/** The edge of the names, which is dragged; a double click gives them their usual width again. */
export function namesEdge(onChange: (width: number | undefined) => void): HTMLElement {
  const edge = element("div", "edge");
  edge.addEventListener("pointerdown", (event) => { edge.setPointerCapture(event.pointerId); });
  edge.addEventListener("pointermove", (event) => {
    if (edge.hasPointerCapture(event.pointerId)) {
      onChange(Math.min(Math.max(event.clientX, least), Math.max(least, window.innerWidth - least)));
    }
  });
  edge.addEventListener("dblclick", () => { onChange(undefined); });
  return edge;
}

/** Undefined stands for the usual width. */
export function setNames(width: number | undefined): void {
  const { style } = document.documentElement;
  if (width === undefined) {
    style.removeProperty("--names");
  } else {
    style.setProperty("--names", `${width}px`);
  }
}
