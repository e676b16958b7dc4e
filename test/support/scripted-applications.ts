import { randomBytes, randomUUID } from 'node:crypto';
import { type Answer, idOf, ok, type ReceivedCall, refusal } from './scripted-answers.js';

/** A webhook as it was registered, with the secret that signs it. */
export interface ScriptedWebhook {
  id: string;
  applicationId: string;
  webhookSecret: string;
  callbackUrl: { main: { url: string } };
}

/** The sub-applications of the scripted aggregator and their webhooks. */
export class ScriptedApplications {
  readonly webhooks: ScriptedWebhook[] = [];
  readonly applications: Record<string, unknown>[] = [];

  /** What this call may be, by its route. */
  handlers(call: ReceivedCall): Record<string, () => Answer> {
    return {
      'POST /applications': () => this.create(call.body),
      'GET /applications': () => ok(this.applications),
      'PUT /applications/:id': () => this.update(call),
      'POST /webhook/events': () => this.registerWebhook(call.body),
      'GET /webhook/events': () => this.webhooksOf(call),
      'DELETE /webhook/events/:id': () => this.deleteWebhook(call),
    };
  }

  private create(body: Record<string, unknown>): Answer {
    const application = { id: randomUUID(), ...body };
    this.applications.push(application);
    return ok(application, 201);
  }

  private update(call: ReceivedCall): Answer {
    const application = this.applications.find(({ id }) => id === idOf(call));
    return application ? ok(Object.assign(application, call.body)) : { status: 404, body: refusal(404) };
  }

  private registerWebhook({ applicationId, callbackUrl }: Record<string, unknown>): Answer {
    const webhook = {
      id: randomUUID(),
      applicationId: String(applicationId),
      callbackUrl: callbackUrl as ScriptedWebhook['callbackUrl'],
      webhookSecret: randomBytes(32).toString('hex'),
    };
    this.webhooks.push(webhook);
    return ok(webhook, 201);
  }

  private webhooksOf({ headers }: ReceivedCall): Answer {
    const active = this.webhooks.filter(({ applicationId }) => applicationId === headers['sub-application']);
    return { status: 200, body: { metadata: {}, data: { active } } };
  }

  private deleteWebhook({ path }: ReceivedCall): Answer {
    const id = path.split('/')[3];
    const [gone] = this.webhooks.splice(
      this.webhooks.findIndex((each) => each.id === id),
      1,
    );
    return ok(gone);
  }
}
