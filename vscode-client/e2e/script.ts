import { CannotRunHere } from "./machine";

const skipped = 3;

/** Runs a script to its end, and sets its exit code: 3 where this machine cannot run it. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const isLack = error instanceof CannotRunHere;
    console.error(isLack ? `cannot run here: ${error.message}` : error);
    process.exitCode = isLack ? skipped : 1;
  }
}
