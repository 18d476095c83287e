import { Button, Skeleton, Title } from "@mantine/core";
import { useState } from "react";
import type { UpdaterDecision } from "../../src/contract/updater-page.ts";
import { ListTable } from "../shared/list-table.tsx";
import { Problem } from "../shared/live/problem.tsx";
import { NameText } from "../shared/name-text.tsx";
import { When } from "../shared/time/when.tsx";
import { WithCode } from "../shared/with-code.tsx";

const few = 20;

type Props = {
  /** Undefined until they are known. */
  readonly decisions: readonly UpdaterDecision[] | undefined;
  readonly error: Error | null;
};

/** What was done, what failed, and why; the latest first. */
export function DecisionTable({ decisions, error }: Props) {
  return (
    <section aria-labelledby="decisions">
      <Title order={2} id="decisions" mb="xs">
        Updates
      </Title>
      <Problem error={error} />
      {decisions === undefined && error === null && <Skeleton h={80} />}
      {decisions && <Decisions decisions={decisions} />}
    </section>
  );
}

function Decisions({ decisions }: { readonly decisions: readonly UpdaterDecision[] }) {
  const [all, setAll] = useState(false);
  return (
    <>
      {decisions.length === 0 ? (
        <p className="quiet">No update has been necessary yet.</p>
      ) : (
        <ListTable heads={["When", "About", "What", "Why"]}>
          {decisions.slice(0, all ? undefined : few).map(({ at, kind, about, what, because, todo }) => (
            <tr key={`${at} ${about} ${what}`}>
              <td data-label="When">
                <When at={at} />
              </td>
              <td data-label="About" className="mono about">
                <span>
                  <NameText name={about} />
                </span>
              </td>
              <td data-label="What" className={kind === "failing" ? "bad" : ""}>
                {what}
              </td>
              <td data-label="Why">
                <WithCode text={`${because ?? ""}${todo ? `; ${todo}` : ""}`} />
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {!all && decisions.length > few && (
        <Button mt="xs" variant="default" onClick={() => setAll(true)}>
          Show all {decisions.length}
        </Button>
      )}
    </>
  );
}
