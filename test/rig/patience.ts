/**
 * How long tests wait, in milliseconds, for what comes by itself. Only a test that fails waits so long, or one on a machine that
 * gives a tenth of its processors: who breaks a test on purpose sets `MOOR_PATIENCE`, in seconds, for a sooner end.
 */
export const patience = Number(process.env.MOOR_PATIENCE ?? 240) * 1_000;
