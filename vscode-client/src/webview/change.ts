import type { Lane, Mark, Round, Timeline } from "../protocol";

/** A list that begins like one that is known. */
interface Continued<T> {
  readonly kept: number;
  readonly rest: readonly T[];
}

type LaneChange = Omit<Lane, "rounds"> & { readonly rounds: Continued<Round> };

/** A timeline in terms of the one before: of a run that goes on, its end alone. */
export type Change = Omit<Timeline, "lanes" | "marks"> & {
  readonly lanes: Continued<LaneChange>;
  readonly marks: Continued<Mark>;
};

export function changeOf(old: Timeline, now: Timeline): Change {
  const { kept, rest } = continued(old.lanes, now.lanes, isSameLane);
  const lanes = rest.map((lane, index): LaneChange => {
    const before = old.lanes[kept + index]?.rounds ?? [];
    return { ...lane, rounds: continued(before, lane.rounds, isSame) };
  });
  return { ...now, lanes: { kept, rest: lanes }, marks: continued(old.marks, now.marks, isSame) };
}

export function changed(old: Timeline, { lanes, marks, ...now }: Change): Timeline {
  const rest = lanes.rest.map((lane, index): Lane => {
    const before = old.lanes[lanes.kept + index]?.rounds ?? [];
    return { ...lane, rounds: whole(before, lane.rounds) };
  });
  return { ...now, lanes: [...old.lanes.slice(0, lanes.kept), ...rest], marks: whole(old.marks, marks) };
}

function continued<T>(old: readonly T[], now: readonly T[], isSameItem: (one: T, other: T) => boolean): Continued<T> {
  const differs = now.findIndex((item, index) => {
    const before = old[index];
    return before === undefined || !isSameItem(before, item);
  });
  const kept = differs < 0 ? now.length : differs;
  return { kept, rest: now.slice(kept) };
}

function whole<T>(old: readonly T[], { kept, rest }: Continued<T>): T[] {
  return [...old.slice(0, kept), ...rest];
}

function isSameLane({ rounds: before, ...one }: Lane, { rounds: now, ...other }: Lane): boolean {
  return isSame(one, other) && before.length === now.length &&
    continued(before, now, isSame).kept === now.length;
}

/** For objects whose members are plain values, and which have the same members. */
function isSame<T extends object>(one: T, other: T): boolean {
  return (Object.keys(other) as (keyof T)[]).every((name) => one[name] === other[name]);
}
