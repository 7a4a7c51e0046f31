/** Installs what the stories need of the machine, as far as it lets us; where it does not, they say so. */

import { CannotRunHere } from "./machine";
import { prepareMachine } from "./set-up";

await prepareMachine().catch((error: unknown) => {
  if (!(error instanceof CannotRunHere)) {
    throw error;
  }
});
