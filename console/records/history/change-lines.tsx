import { Button } from "@mantine/core";
import { useState } from "react";
import type { ChangedSet, ChangedZone } from "../../../src/contract/change-events.ts";
import { counted } from "../../shared/counted.ts";
import { linesOf } from "./describe-change.ts";

type Side = ChangedSet | ChangedZone | null;

/** What was removed, and what was added. */
export function Lines({ before, after }: { readonly before: Side; readonly after: Side }) {
  const { gone, come, same } = linesOf(before, after);
  return (
    <span className="mono">
      {gone.map((line) => (
        <del key={line} className="one-of quiet">
          <Cut text={line} />
        </del>
      ))}
      {gone.length > 0 && come.length > 0 && "→ "}
      {come.map((line) => (
        <ins key={line} className="one-of" style={{ textDecoration: "none" }}>
          <Cut text={line} />
        </ins>
      ))}
      {same > 0 && <span className="quiet"> ({same} unchanged)</span>}
    </span>
  );
}

const longest = 200;

/** Shortens long texts: a key in a TXT record would fill the page. */
function Cut({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= longest) return <bdi dir="ltr">{text}</bdi>;
  return (
    <>
      <bdi dir="ltr">{text.slice(0, longest)}…</bdi>{" "}
      <Button size="compact-xs" variant="default" onClick={() => setWhole(true)}>
        Show all {counted(text.length, "character")}
      </Button>
    </>
  );
}
