import type { Uri } from "vscode";

import type { Run } from "../protocol";
import type { Node } from "./run-rows";

/** What stands on one side of a comparison: traces and folders, or some of the runs in these. */
export interface Side {
  readonly uris: readonly string[];
  /** Undefined: all of them. */
  readonly runs?: readonly string[];
  readonly label: string;
}

/** What rows of the view Runs, or files and folders of the Explorer, stand for; undefined for none. */
export function sideOf(chosen: readonly (Node | Uri)[]): Side | undefined {
  const uris = chosen.filter((each): each is Uri => "scheme" in each);
  if (uris.length > 0) {
    const names = uris.map(({ path }) => path.split("/").findLast((name) => name !== "") ?? path);
    return { uris: uris.map(String), label: labelOf(names) };
  }
  const nodes = chosen.filter((each): each is Node => !("scheme" in each));
  const runs = [...new Set(nodes.flatMap(runsOf))];
  if (runs.length === 0) {
    return undefined;
  }
  return {
    uris: [...new Set(runs.flatMap(({ files }) => files.map(({ uri }) => uri)))],
    runs: runs.map(({ runId }) => runId),
    label: labelOf(nodes.map((node) => ("group" in node ? node.group : runsOf(node)[0]?.label ?? ""))),
  };
}

/** The runs that a row is about or in. */
export function runsOf(node: Node): readonly Run[] {
  if ("group" in node) {
    return node.runs.map(({ run }) => run);
  }
  if ("symbol" in node) {
    return [node.within.of];
  }
  return ["file" in node ? node.of : node.run];
}

function labelOf(names: readonly string[]): string {
  const [first = "", ...others] = new Set(names);
  return others.length === 0 ? first : `${first} + ${others.length}`;
}
