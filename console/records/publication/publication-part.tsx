import { Stack, Title } from "@mantine/core";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { Waiting } from "../../shared/live/waiting.tsx";
import { PublishForm } from "./publish-form.tsx";
import { Published } from "./published.tsx";
import { usePublication } from "./read-publication.ts";

/** Publishing the zone at a provider, and what the provider holds. */
export default function PublicationPart({ zone }: { readonly zone: RrsetsZone }) {
  const read = usePublication(zone.name);
  return (
    <section aria-labelledby="provider" style={{ maxWidth: "46rem" }}>
      <Title order={2} id="provider" mb="xs">
        Provider
      </Title>
      <Stack gap="sm">
        <Problem error={read.error} retry={() => void read.refetch()} />
        {read.isPending && <Waiting />}
        {read.data === null && <PublishForm zone={zone.name} />}
        {read.data && <Published zone={zone.name} publication={read.data} />}
      </Stack>
    </section>
  );
}
