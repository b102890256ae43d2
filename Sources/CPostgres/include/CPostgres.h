// SPDX-License-Identifier: MIT
// libpq, which is loaded at the first call of cpq_is_available: it brings twenty other libraries, and a process that follows
// no table pays neither their memory nor the time that they take to load. Each function is libpq's of the same name.
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <postgresql/libpq-fe.h>
#include <stdbool.h>

/// The name of the library that is loaded.
const char *cpq_library(void);

/// Whether the library could be loaded. No other function may be called if not. Safe from any thread.
bool cpq_is_available(void);

PQconninfoOption *cpq_conninfoParse(const char *conninfo, char **message);
void cpq_conninfoFree(PQconninfoOption *options);
PGconn *cpq_connectStartParams(const char *const *keywords, const char *const *values, int expand_dbname);
PostgresPollingStatusType cpq_connectPoll(PGconn *connection);
PQnoticeReceiver cpq_setNoticeReceiver(PGconn *connection, PQnoticeReceiver receiver, void *argument);
int cpq_setnonblocking(PGconn *connection, int argument);
int cpq_socket(const PGconn *connection);
char *cpq_errorMessage(const PGconn *connection);
char *cpq_user(const PGconn *connection);
char *cpq_pass(const PGconn *connection);
void cpq_finish(PGconn *connection);

int cpq_sendQuery(PGconn *connection, const char *query);
int cpq_consumeInput(PGconn *connection);
int cpq_isBusy(PGconn *connection);
int cpq_flush(PGconn *connection);
int cpq_getCopyData(PGconn *connection, char **buffer, int async);
int cpq_putCopyData(PGconn *connection, const char *buffer, int count);
void cpq_freemem(void *memory);

PGresult *cpq_getResult(PGconn *connection);
ExecStatusType cpq_resultStatus(const PGresult *result);
char *cpq_resultErrorMessage(const PGresult *result);
char *cpq_resultErrorField(const PGresult *result, int field);
int cpq_ntuples(const PGresult *result);
int cpq_nfields(const PGresult *result);
int cpq_getisnull(const PGresult *result, int row, int column);
char *cpq_getvalue(const PGresult *result, int row, int column);
void cpq_clear(PGresult *result);

#endif
