/** The console: the operator's page, which the admin listener serves. */
import { render } from "preact";
import { startClock } from "./data/clock.ts";
import { followLinks } from "./data/location.ts";
import { watchSilence } from "./data/silence.ts";
import { enter } from "./data/session.ts";
import { watchProof } from "./data/status.ts";
import { Frame } from "./shell/frame.tsx";
import { listenToKeys } from "./shell/keyboard.ts";
import { restoreTheme } from "./shell/theme.ts";

restoreTheme();
followLinks();
listenToKeys();
startClock();
await enter();
watchProof();
watchSilence();
render(<Frame />, document.getElementById("app")!);
