-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "aggregator";

-- CreateTable
CREATE TABLE "applications" (
    "id" UUID NOT NULL,
    "root_application_id" UUID,
    "name" TEXT NOT NULL,
    "merchant_category_code" INTEGER,
    "ppc_user_group" TEXT,
    "callback_urls" TEXT[],
    "is_contract_present" BOOLEAN NOT NULL DEFAULT false,
    "secret_hash" TEXT,
    "previous_secret_hash" TEXT,
    "previous_secret_until" TIMESTAMPTZ(3),
    "event_sequence" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "applications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "consents" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "institution_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "feature_scope" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "authorized_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "last_confirmed_at" TIMESTAMPTZ(3),
    "reconfirm_by" TIMESTAMPTZ(3),
    "transaction_from" TIMESTAMPTZ(3),
    "transaction_to" TIMESTAMPTZ(3),
    "institution_consent_id" TEXT,
    "sealed_pending" TEXT,
    "sealed_grant" TEXT,
    "token_hash" TEXT,
    "sealed_token" TEXT,
    "callback" TEXT,
    "one_time_token" BOOLEAN NOT NULL DEFAULT false,
    "forward_parameters" JSONB,
    "sealed_request" TEXT,
    "callback_lease_until" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "consents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "one_time_tokens" (
    "hash" TEXT NOT NULL,
    "application_id" UUID NOT NULL,
    "consent_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "one_time_tokens_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "payments" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "consent_id" UUID NOT NULL,
    "institution_id" TEXT NOT NULL,
    "institution_payment_id" TEXT,
    "payment_idempotency_id" TEXT NOT NULL,
    "payment_lifecycle_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "iso_status" TEXT,
    "request_fingerprint" TEXT NOT NULL,
    "sealed_request" TEXT NOT NULL,
    "sealed_response" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "next_poll_at" TIMESTAMPTZ(3),
    "poll_attempts" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "payments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "snapshots" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "consent_id" UUID NOT NULL,
    "query_key" TEXT NOT NULL,
    "total" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "snapshots_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "snapshot_chunks" (
    "snapshot_id" UUID NOT NULL,
    "first_row" INTEGER NOT NULL,
    "row_count" INTEGER NOT NULL,
    "sealed" TEXT NOT NULL,

    CONSTRAINT "snapshot_chunks_pkey" PRIMARY KEY ("snapshot_id","first_row")
);

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "application_user_id" TEXT,
    "reference_id" TEXT,
    "vop_opt_out" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhooks" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "categories" TEXT[],
    "main_url" TEXT NOT NULL,
    "backup_url" TEXT,
    "metadata" JSONB,
    "status" TEXT NOT NULL DEFAULT 'active',
    "sealed_secret" TEXT NOT NULL,
    "next_sealed_secret" TEXT,
    "next_secret_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL,
    "category" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deliveries" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "rounds" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "attempts" (
    "id" UUID NOT NULL,
    "delivery_id" UUID NOT NULL,
    "round" INTEGER NOT NULL,
    "target" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "http_status" INTEGER,
    "failure" TEXT,

    CONSTRAINT "attempts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "applications_root_application_id_name_id_idx" ON "applications"("root_application_id", "name", "id");

-- CreateIndex
CREATE UNIQUE INDEX "consents_state_key" ON "consents"("state");

-- CreateIndex
CREATE UNIQUE INDEX "consents_token_hash_key" ON "consents"("token_hash");

-- CreateIndex
CREATE INDEX "consents_application_id_created_at_id_idx" ON "consents"("application_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "consents_user_id_idx" ON "consents"("user_id");

-- CreateIndex
CREATE INDEX "consents_status_expires_at_idx" ON "consents"("status", "expires_at");

-- CreateIndex
CREATE INDEX "consents_status_created_at_idx" ON "consents"("status", "created_at");

-- CreateIndex
CREATE INDEX "one_time_tokens_consent_id_idx" ON "one_time_tokens"("consent_id");

-- CreateIndex
CREATE INDEX "one_time_tokens_expires_at_idx" ON "one_time_tokens"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "payments_payment_lifecycle_id_key" ON "payments"("payment_lifecycle_id");

-- CreateIndex
CREATE INDEX "payments_consent_id_idx" ON "payments"("consent_id");

-- CreateIndex
CREATE INDEX "payments_institution_payment_id_idx" ON "payments"("institution_payment_id");

-- CreateIndex
CREATE INDEX "payments_next_poll_at_idx" ON "payments"("next_poll_at");

-- CreateIndex
CREATE UNIQUE INDEX "payments_application_id_consent_id_payment_idempotency_id_key" ON "payments"("application_id", "consent_id", "payment_idempotency_id");

-- CreateIndex
CREATE INDEX "snapshots_expires_at_idx" ON "snapshots"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "snapshots_consent_id_query_key_key" ON "snapshots"("consent_id", "query_key");

-- CreateIndex
CREATE INDEX "users_application_id_created_at_id_idx" ON "users"("application_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "users_application_id_application_user_id_key" ON "users"("application_id", "application_user_id");

-- CreateIndex
CREATE INDEX "webhooks_application_id_created_at_idx" ON "webhooks"("application_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "events_application_id_sequence_key" ON "events"("application_id", "sequence");

-- CreateIndex
CREATE INDEX "deliveries_next_attempt_at_idx" ON "deliveries"("next_attempt_at");

-- CreateIndex
CREATE INDEX "deliveries_application_id_status_finished_at_idx" ON "deliveries"("application_id", "status", "finished_at");

-- CreateIndex
CREATE INDEX "deliveries_webhook_id_idx" ON "deliveries"("webhook_id");

-- CreateIndex
CREATE UNIQUE INDEX "deliveries_event_id_webhook_id_key" ON "deliveries"("event_id", "webhook_id");

-- CreateIndex
CREATE INDEX "attempts_delivery_id_started_at_idx" ON "attempts"("delivery_id", "started_at");

-- AddForeignKey
ALTER TABLE "applications" ADD CONSTRAINT "applications_root_application_id_fkey" FOREIGN KEY ("root_application_id") REFERENCES "applications"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_consent_id_fkey" FOREIGN KEY ("consent_id") REFERENCES "consents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_consent_id_fkey" FOREIGN KEY ("consent_id") REFERENCES "consents"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_consent_id_fkey" FOREIGN KEY ("consent_id") REFERENCES "consents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshot_chunks" ADD CONSTRAINT "snapshot_chunks_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "snapshots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "deliveries"("id") ON DELETE CASCADE ON UPDATE CASCADE;
