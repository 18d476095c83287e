import { answerAsWorker } from "../src/nameserver/listen/worker.ts";

/** The program of a DNS worker thread. An error ends the thread, and the main thread logs it. */
void answerAsWorker();
