import { AnnotationView } from "./annotation-api.ts";

/** The frames of the live stream of judgments, by the name of their event. Each shows the judgment as it is by then. */
export const ANNOTATION_EVENTS = {
  "annotation.recorded": { summary: "A judgment was recorded, or brought from elsewhere.", data: AnnotationView },
  "annotation.superseded": { summary: "Its author replaced it by another one.", data: AnnotationView },
  "annotation.retracted": { summary: "It was withdrawn.", data: AnnotationView },
  "annotation.closed": { summary: "A flag has been looked into.", data: AnnotationView },
} as const;
export type AnnotationEvent = keyof typeof ANNOTATION_EVENTS;
