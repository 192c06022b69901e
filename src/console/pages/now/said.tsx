/** For screen readers: once a minute what changed. The table itself is no live region. */
import { useEffect, useState } from "preact/hooks";
import type { LiveFeed } from "../../data/live.ts";
import { counted } from "../../numbers/counts.ts";

const MINUTE = 60_000;

export function Said({ feed }: { feed: LiveFeed }) {
  const [text, setText] = useState("");
  useEffect(() => {
    let since = Date.now();
    const timer = setInterval(() => {
      const ended = feed.rows.value.filter(({ startedAt, ms }) => startedAt + ms >= since);
      const failed = ended.filter(({ outcome }) => outcome === "failed").length;
      since = Date.now();
      if (ended.length > 0) setText(`${counted(ended.length, "call")}, ${failed} failed`);
    }, MINUTE);
    return () => clearInterval(timer);
  }, [feed]);
  return (
    <div class="vh" aria-live="polite">
      {text}
    </div>
  );
}
