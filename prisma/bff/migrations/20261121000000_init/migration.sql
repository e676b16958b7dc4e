-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "bff";

-- CreateTable
CREATE TABLE "accounts" (
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "institution_id" TEXT NOT NULL,
    "identification_hash" TEXT NOT NULL,
    "aggregator_account_id" TEXT NOT NULL,
    "type" TEXT,
    "currency" TEXT,
    "name" TEXT,
    "wire" TEXT NOT NULL,
    "balances" TEXT,
    "balances_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_synced_at" TIMESTAMPTZ(3),

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connections" (
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "institution_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "reason" TEXT,
    "health" TEXT NOT NULL DEFAULT 'unknown',
    "consent_id" UUID,
    "sealed_consent_token" TEXT,
    "state_hash" TEXT,
    "state_used_at" TIMESTAMPTZ(3),
    "return_url" TEXT,
    "authorisation_url" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "authorised_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "reconfirm_by" TIMESTAMPTZ(3),
    "next_sync_at" TIMESTAMPTZ(3),
    "last_synced_at" TIMESTAMPTZ(3),
    "sync_failures" INTEGER NOT NULL DEFAULT 0,
    "sync_lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "connections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "customers" (
    "id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "reference" TEXT NOT NULL,
    "change_sequence" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "customers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inbound_events" (
    "id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "sealed_body" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "problem" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "processed_at" TIMESTAMPTZ(3),
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "inbound_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "events" (
    "merchant_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "customer_id" UUID,
    "data" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("merchant_id","sequence")
);

-- CreateTable
CREATE TABLE "leases" (
    "resource" TEXT NOT NULL,
    "token" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("resource")
);

-- CreateTable
CREATE TABLE "merchants" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "merchant_category_code" TEXT NOT NULL,
    "ppc_user_group" TEXT NOT NULL,
    "is_contract_present" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL,
    "sub_application_id" UUID,
    "return_urls" TEXT[],
    "allowed_origins" TEXT[],
    "event_sequence" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "merchants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_secrets" (
    "id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "sub_application_id" UUID NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "sealed_secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payments" (
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "connection_id" UUID,
    "institution_id" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "payment_idempotency_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "reason" TEXT,
    "amount" DECIMAL(24,6) NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "reference" TEXT,
    "sealed_request" TEXT NOT NULL,
    "consent_id" UUID,
    "sealed_consent_token" TEXT,
    "state_hash" TEXT,
    "state_used_at" TIMESTAMPTZ(3),
    "return_url" TEXT,
    "authorisation_url" TEXT,
    "aggregator_payment_id" TEXT,
    "iso_status" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "submitted_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "next_poll_at" TIMESTAMPTZ(3),
    "polls" INTEGER NOT NULL DEFAULT 0,
    "poll_lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "payments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sync_runs" (
    "id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "accounts" INTEGER NOT NULL DEFAULT 0,
    "accounts_done" INTEGER NOT NULL DEFAULT 0,
    "pages" INTEGER NOT NULL DEFAULT 0,
    "rows_read" INTEGER NOT NULL DEFAULT 0,
    "rows_expected" INTEGER NOT NULL DEFAULT 0,
    "added" INTEGER NOT NULL DEFAULT 0,
    "modified" INTEGER NOT NULL DEFAULT 0,
    "removed" INTEGER NOT NULL DEFAULT 0,
    "linked" INTEGER NOT NULL DEFAULT 0,
    "flagged" INTEGER NOT NULL DEFAULT 0,
    "record_ms" INTEGER NOT NULL DEFAULT 0,
    "problem" TEXT,

    CONSTRAINT "sync_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "transactions" (
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "date" TIMESTAMPTZ(3) NOT NULL,
    "booked_at" TIMESTAMPTZ(3),
    "value_at" TIMESTAMPTZ(3),
    "amount" DECIMAL(24,6),
    "amount_minor" BIGINT,
    "currency" TEXT,
    "description" TEXT,
    "bank_id" TEXT,
    "fingerprint" TEXT NOT NULL,
    "flag" TEXT,
    "wire" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "transactions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "changes" (
    "customer_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "account_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "sync_run_id" UUID,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL,
    "payload" TEXT NOT NULL,

    CONSTRAINT "changes_pkey" PRIMARY KEY ("customer_id","sequence")
);

-- CreateIndex
CREATE INDEX "accounts_connection_id_idx" ON "accounts"("connection_id");

-- CreateIndex
CREATE UNIQUE INDEX "accounts_customer_id_identification_hash_key" ON "accounts"("customer_id", "identification_hash");

-- CreateIndex
CREATE UNIQUE INDEX "connections_consent_id_key" ON "connections"("consent_id");

-- CreateIndex
CREATE UNIQUE INDEX "connections_state_hash_key" ON "connections"("state_hash");

-- CreateIndex
CREATE INDEX "connections_customer_id_created_at_idx" ON "connections"("customer_id", "created_at");

-- CreateIndex
CREATE INDEX "connections_next_sync_at_idx" ON "connections"("next_sync_at");

-- CreateIndex
CREATE INDEX "connections_status_created_at_idx" ON "connections"("status", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "customers_merchant_id_reference_key" ON "customers"("merchant_id", "reference");

-- CreateIndex
CREATE INDEX "inbound_events_next_attempt_at_idx" ON "inbound_events"("next_attempt_at");

-- CreateIndex
CREATE INDEX "inbound_events_status_received_at_idx" ON "inbound_events"("status", "received_at");

-- CreateIndex
CREATE UNIQUE INDEX "inbound_events_merchant_id_delivery_id_key" ON "inbound_events"("merchant_id", "delivery_id");

-- CreateIndex
CREATE UNIQUE INDEX "events_id_key" ON "events"("id");

-- CreateIndex
CREATE UNIQUE INDEX "merchants_sub_application_id_key" ON "merchants"("sub_application_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_merchant_id_idx" ON "api_keys"("merchant_id");

-- CreateIndex
CREATE INDEX "webhook_secrets_merchant_id_idx" ON "webhook_secrets"("merchant_id");

-- CreateIndex
CREATE INDEX "webhook_secrets_sub_application_id_idx" ON "webhook_secrets"("sub_application_id");

-- CreateIndex
CREATE UNIQUE INDEX "payments_consent_id_key" ON "payments"("consent_id");

-- CreateIndex
CREATE UNIQUE INDEX "payments_state_hash_key" ON "payments"("state_hash");

-- CreateIndex
CREATE INDEX "payments_customer_id_created_at_idx" ON "payments"("customer_id", "created_at");

-- CreateIndex
CREATE INDEX "payments_aggregator_payment_id_idx" ON "payments"("aggregator_payment_id");

-- CreateIndex
CREATE INDEX "payments_next_poll_at_idx" ON "payments"("next_poll_at");

-- CreateIndex
CREATE UNIQUE INDEX "payments_merchant_id_idempotency_key_key" ON "payments"("merchant_id", "idempotency_key");

-- CreateIndex
CREATE INDEX "sync_runs_connection_id_started_at_idx" ON "sync_runs"("connection_id", "started_at" DESC);

-- CreateIndex
CREATE INDEX "transactions_account_id_date_id_idx" ON "transactions"("account_id", "date" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "transactions_customer_id_date_id_idx" ON "transactions"("customer_id", "date" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "changes_transaction_id_idx" ON "changes"("transaction_id");

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connections" ADD CONSTRAINT "connections_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "customers" ADD CONSTRAINT "customers_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sync_runs" ADD CONSTRAINT "sync_runs_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "changes" ADD CONSTRAINT "changes_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
