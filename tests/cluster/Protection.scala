package org.apache.spark

/** What is private to Spark of its security. */
object Protection {

  /** Whether this process authenticates others, encrypts what it sends, and encrypts files. */
  def isOn: Boolean = {
    val security = SparkEnv.get.securityManager
    security.isAuthenticationEnabled() && security.isEncryptionEnabled() && security.getIOEncryptionKey().isDefined
  }
}
