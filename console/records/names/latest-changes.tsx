import { Title } from "@mantine/core";
import { Link } from "wouter";
import type { LatestWrite } from "../../../src/contract/overview.ts";
import { counted } from "../../shared/counted.ts";
import { NameText } from "../../shared/name-text.tsx";
import { When } from "../../shared/time/when.tsx";
import { zoneAddress } from "../zones/zone-address.ts";
import { changeWords } from "./change-words.ts";
import { actorWords } from "./device-words.ts";

/** What happened recently in all zones, as sentences. */
export function LatestChanges({ writes }: { readonly writes: readonly LatestWrite[] }) {
  if (writes.length === 0) return null;
  return (
    <section aria-labelledby="latest">
      <Title order={2} id="latest" mb="xs">
        Latest changes
      </Title>
      <ul className="latest">
        {writes.map((write) => (
          <li key={`${write.zone} ${write.serial}`}>
            <div>
              <Sentences of={write} />
            </div>
            <span className="quiet by">
              {actorWords(write.by)}, <When at={write.at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sentences({ of: write }: { readonly of: LatestWrite }) {
  return (
    <>
      {changeWords(write).map(({ name, did, values, was }) => (
        <p key={`${name} ${did} ${values.join()}`}>
          <Link href={zoneAddress(write.zone, "history")} className="name-link">
            <NameText name={name} />
          </Link>{" "}
          {did} {values.length > 0 && <bdi className="mono">{values.join(", ")}</bdi>}
          {was.length > 0 && (
            <>
              {" "}
              <span className="quiet">
                was <bdi className="mono">{was.join(", ")}</bdi>
              </span>
            </>
          )}
        </p>
      ))}
      {write.more > 0 && <p className="quiet">and {counted(write.more, "more set")}</p>}
    </>
  );
}
