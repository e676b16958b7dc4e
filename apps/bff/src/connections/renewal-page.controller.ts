import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { header, Problem, type PsuHeaders } from '#libs/contract';
import { RouteSetting } from '#libs/server';
import { ReturningCustomer } from '../auth/presence.js';
import { type PlainPage, sendPage } from '../callbacks/plain-page.js';
import { InstitutionsService } from './institutions.service.js';
import { type OpenLink, RenewalLinks } from './renewal-links.service.js';

const psuIdForm = /^[\x20-\x7e]{1,100}$/;

const over: PlainPage = {
  title: 'This link is not valid any more.',
  text: 'It works once and for a limited time. Ask whoever sent it for another one.',
  status: 410,
};
const onDevice: PlainPage = {
  title: 'Confirm in your bank’s app.',
  text: 'Your bank has sent a question to your device. You can close this window.',
};
const notRenewable: PlainPage = {
  title: 'This connection cannot be renewed.',
  text: 'Return to the shop to connect your bank again.',
  status: 409,
};
const unreachable: PlainPage = {
  title: 'Your bank cannot be reached at the moment.',
  text: 'Nothing has changed, and the link still works: try again later.',
  status: 503,
};

/**
 * What a person sees who opens a renewal link. Opening it changes nothing, because programs that look into e-mails open links too:
 * only the button leads to the bank and uses the link up.
 */
@ApiExcludeController()
@Controller('renew')
export class RenewalPageController {
  constructor(
    private readonly links: RenewalLinks,
    private readonly institutions: InstitutionsService,
  ) {}

  @Get(':token')
  async showRenewal(@Param('token') token: string, @Res() reply: FastifyReply): Promise<void> {
    const link = await this.links.find(token);
    sendPage(reply, link ? await this.invitation(link) : over);
  }

  @Post(':token')
  @RouteSetting({ takesForms: true })
  async followRenewal(
    @Param('token') token: string,
    @ReturningCustomer() psu: PsuHeaders | undefined,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const link = await this.links.find(token);
    if (!link) return sendPage(reply, over);
    const psuId = psuIdIn(body);
    try {
      const renewal = await this.links.follow(link, psuId === undefined ? psu : { ...psu, psuId });
      const to = renewal?.authorisationUrl;
      if (to === undefined) return sendPage(reply, renewal ? onDevice : over);
      void reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(to, 303);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      sendPage(reply, await this.refusal(error, link));
    }
  }

  private async invitation({ merchant, institution_id: id }: OpenLink): Promise<PlainPage> {
    const bank = await this.nameOf(id);
    return {
      title: `Renew the connection to ${bank}`,
      text: `${merchant} asks you to allow access to ${bank} again. You approve on your bank’s own page.`,
      form: { button: `Continue to ${bank}` },
    };
  }

  /** A bank that asks its customers on a device of theirs has to be told who they are there. */
  private async refusal({ issues, status }: Problem, { institution_id: id }: OpenLink): Promise<PlainPage> {
    if (status === 409) return notRenewable;
    if (!issues.some(({ parameter }) => parameter === header.psuId)) return unreachable;
    const bank = await this.nameOf(id);
    return {
      title: `Who are you at ${bank}?`,
      text: 'Your bank asks you on a device of yours, and has to know whom to ask.',
      form: { button: 'Continue', field: { name: header.psuId, label: `Your user name at ${bank}` } },
      status: 400,
    };
  }

  /** Its id where the list cannot be had now. */
  private async nameOf(institutionId: string): Promise<string> {
    const known = await this.institutions.list().catch(() => []);
    return known.find(({ id }) => id === institutionId)?.name ?? institutionId;
  }
}

function psuIdIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const value: unknown = Object.entries(body).find(([name]) => name === header.psuId)?.[1];
  return typeof value === 'string' && psuIdForm.test(value.trim()) ? value.trim() : undefined;
}
