/** What weir says about itself, as a server and as a client. */
import { VERSION } from "../../../process/version.ts";

export const OWN_INFO = { name: "weir", version: VERSION };
