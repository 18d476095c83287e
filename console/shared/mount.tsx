import inter from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2?url";
import "@mantine/core/styles.css";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keepFocus } from "./keys/keep-focus.ts";
import { Keys } from "./keys/keys.tsx";
import { isAway } from "./live/request.ts";
import { SlowWrite } from "./live/slow-write.tsx";
import { WayBackContext, watchWayBack } from "./session/way-back.ts";
import { cssVariables, theme } from "./theme.ts";

/** Renders a page into the document. The service may be down for a while: reads are retried, writes never are. */
export function mount(page: ReactNode): void {
  const root = document.getElementById("root");
  if (root === null) throw new Error("the document has no element #root");
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: "always",
        staleTime: 10_000,
        retry: (count, error) => isAway(error) && count < 1_000,
        retryDelay: (count) => Math.min(5_000, 500 * 2 ** count),
      },
      mutations: { networkMode: "always" },
    },
  });
  const wayBack = watchWayBack();
  keepFocus();
  document.fonts.add(new FontFace("Inter", `url(${inter})`, { weight: "100 900", display: "swap" }));
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <WayBackContext value={wayBack}>
            <Keys>{page}</Keys>
          </WayBackContext>
          <SlowWrite />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
