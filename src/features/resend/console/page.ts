/** The page that sends a call again, and the way to it from a call. */
import type { OwnPage } from "../../../console/shell/own-page.ts";

export const page: OwnPage = {
  ...{ path: "/resend", title: "Send again", icon: "play", isInner: true },
  ofCall: ({ id, captured, replayOf }: Resent) => [
    {
      name: "Send again…",
      rest: id,
      ...(!captured && {
        why: "weir did not keep what this call asked. Capture keeps the next ones: see Bodies below.",
      }),
    },
    ...(replayOf === undefined ? [] : [{ name: "Compare with the first call", rest: replayOf }]),
  ],
  load: async () => (await import("./resend-page.tsx")).ResendPage,
};

type Resent = Parameters<NonNullable<OwnPage["ofCall"]>>[0] & { replayOf?: string };
